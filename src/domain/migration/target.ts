import { MigrationError } from './migration-error.js';
import type { Destination, ProxyDaemonSet } from './proxy-daemon-set.js';

/**
 * The DaemonSet that runs what nodes are to be moved to. Undefined: there is none.
 * @throws MigrationError if there are several
 */
export function targetOf(
  daemonSets: readonly ProxyDaemonSet[],
  to: Destination,
  label: string,
): ProxyDaemonSet | undefined {
  const fitting = daemonSets.filter(({ program, mode }) =>
    to === 'kube-proxy' ? program === to : program === 'kube-proxy-ts' && mode === to,
  );
  // Only one of them can be meant by a label.
  const chosen = fitting.length > 1 ? fitting.filter(({ nodeSelector }) => label in nodeSelector) : fitting;
  if (chosen.length > 1)
    throw new MigrationError(
      `several DaemonSets run ${words(to)}: ${chosen.map(({ name }) => name).join(', ')}; choose one by its pods' labels with -l`,
    );
  return chosen[0];
}

/** The value of the label that brings a node to a DaemonSet. @throws MigrationError if it does not ask for any */
export function labelValue(daemonSet: ProxyDaemonSet, label: string): string {
  const value = daemonSet.nodeSelector[label];
  if (value !== undefined) return value;
  const { namespace, name } = daemonSet;
  const selector = JSON.stringify({ spec: { template: { spec: { nodeSelector: { [label]: name } } } } });
  throw new MigrationError(
    `the DaemonSet ${name} runs on nodes whatever their label ${label} is, so that no node can leave it; label the nodes, and let it run where the label says so:`,
    [
      `kubectl label nodes --all ${label}=${name}`,
      `kubectl -n ${namespace} patch daemonset ${name} --type merge -p '${selector}'`,
      `kubectl -n ${namespace} rollout status daemonset/${name}`,
    ],
  );
}

/** What to do where nothing runs what nodes are to be moved to. */
export function withoutTarget(to: Destination, namespace: string, label: string): MigrationError {
  if (to === 'kube-proxy')
    return new MigrationError(`no DaemonSet in the namespace ${namespace} runs kube-proxy; bring it back:`, [
      'kubeadm init phase addon kube-proxy',
    ]);
  const name = `kube-proxy-ts-${to}`;
  return new MigrationError(
    `no DaemonSet in the namespace ${namespace} runs ${words(to)}; install one that selects no node yet, with the other values that your nodes need (docs/guides/rolling-out.md):`,
    [
      `helm install ${name} deploy/chart --namespace ${namespace} --set nameOverride=${name},mode=${to},nodeSelector.${label.replaceAll('.', '\\.')}=${name}`,
    ],
  );
}

function words(to: Destination): string {
  return to === 'kube-proxy' ? to : `kube-proxy-ts in mode ${to}`;
}
