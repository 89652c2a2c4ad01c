import { MigrationError } from './migration-error.js';
import type { ClusterNode, Destination, ProxyDaemonSet, ProxyPod } from './proxy-daemon-set.js';
import { labelValue } from './target.js';

/** What runs on a node now. */
export interface NodeSituation {
  readonly node: ClusterNode;
  /** The DaemonSets that have a pod there. */
  readonly proxies: readonly ProxyDaemonSet[];
}

/** One node's way, decided before anything is changed. */
export interface PlannedMove {
  readonly node: string;
  /** What runs there now; undefined: nothing, as an earlier run was interrupted. */
  readonly from?: ProxyDaemonSet;
  readonly to: ProxyDaemonSet;
  /** It is there already. */
  readonly isThere: boolean;
  /** The label's value now; undefined: the node does not have it. */
  readonly labelBefore?: string;
  readonly labelAfter: string;
}

/** The situation of each node, in their order. */
export function situations(
  nodes: readonly ClusterNode[],
  pods: readonly ProxyPod[],
  daemonSets: readonly ProxyDaemonSet[],
): readonly NodeSituation[] {
  return nodes.map((node) => {
    const here = new Set(pods.filter((pod) => pod.node === node.name).map(({ daemonSet }) => daemonSet));
    return { node, proxies: daemonSets.filter(({ name }) => here.has(name)) };
  });
}

/**
 * How a node gets to the target.
 * @throws MigrationError if it cannot without a gap, or not back again
 */
export function plannedMove(
  { node, proxies }: NodeSituation,
  target: ProxyDaemonSet,
  label: string,
): PlannedMove {
  const { name, labels } = node;
  const [from, second] = proxies;
  const labelAfter = labelValue(target, label);
  if (second)
    throw new MigrationError(
      `two service proxies run on ${name}: ${proxies.map((each) => each.name).join(', ')}; end one of them first`,
    );
  const isThere = from?.name === target.name;
  if (from && !isThere) {
    if (labelValue(from, label) === labelAfter)
      throw new MigrationError(
        `the DaemonSets ${from.name} and ${target.name} select nodes by the same ${label}=${labelAfter}; give one of them another value`,
      );
    const detour = detourOf(from, target);
    if (detour) throw detour;
  }
  return {
    node: name,
    ...(from && { from }),
    to: target,
    isThere,
    ...(labels[label] !== undefined && { labelBefore: labels[label] }),
    labelAfter,
  };
}

/**
 * Why a node must not get there in one move: kube-proxy in another mode removes the rules that it finds before its own stand, on the way
 * or on the way back.
 */
function detourOf(from: ProxyDaemonSet, target: ProxyDaemonSet): MigrationError | undefined {
  if (from.program === target.program || from.mode === target.mode) return undefined;
  const kubeProxy = from.program === 'kube-proxy' ? from : target;
  const to = (destination: Destination | string) => `kubectl kubeproxy migrate --to ${destination}`;
  const back = kubeProxy === target;
  return new MigrationError(
    `from ${from.program} in mode ${from.mode} to ${target.program} in mode ${target.mode} there would be a gap${back ? '' : ' on the way back'}: kube-proxy removes rules of another mode before its own stand; take two moves:`,
    [to(kubeProxy.mode), to(back ? 'kube-proxy' : target.mode)],
  );
}
