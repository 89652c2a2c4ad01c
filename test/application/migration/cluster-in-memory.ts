import type { Clock, Timer } from '../../../src/application/ports/clock.js';
import type { MigratedCluster } from '../../../src/application/ports/migration/migrated-cluster.js';
import type {
  InspectedPlan,
  NodeInspector,
} from '../../../src/application/ports/migration/node-inspector.js';
import type { Inspection, InspectedFamily } from '../../../src/domain/migration/inspection.js';
import type {
  ClusterNode,
  ProxyDaemonSet,
  ProxyPod,
} from '../../../src/domain/migration/proxy-daemon-set.js';

export function daemonSet(
  name: string,
  program: ProxyDaemonSet['program'],
  mode: string,
  nodeSelector: Readonly<Record<string, string>> = { 'service-proxy': name },
): ProxyDaemonSet {
  return {
    namespace: 'kube-system',
    name,
    program,
    version: 'v1',
    mode,
    nodeSelector,
    ipvs: { timeouts: [] },
  };
}

export const kubeProxy = daemonSet('kube-proxy', 'kube-proxy', 'iptables');
export const iptables = daemonSet('kube-proxy-ts', 'kube-proxy-ts', 'iptables');
export const nftables = daemonSet('kube-proxy-ts-nftables', 'kube-proxy-ts', 'nftables');

/** What a node says where nothing differs. */
export function equal(family: Partial<InspectedFamily> = {}): Inspection {
  return {
    facts: { kernel: '6.1.0', iptables: 'nft 1.8.9', rules: [], schedulers: [], unseen: [] },
    comparison: {
      families: [
        {
          family: 'IPv4',
          mode: 'iptables',
          equal: 10,
          different: 0,
          unknown: 0,
          known: [],
          differences: [],
          omitted: 0,
          unknowns: [],
          ...family,
        },
      ],
      notes: [],
      problems: [],
      schedulers: [],
    },
  };
}

export const different = equal({
  different: 1,
  differences: [{ service: 'shop/web', packet: 'a pod → 10.96.0.1:80/TCP', now: 'refused', then: 'dropped' }],
});

/**
 * Nodes whose labels decide which DaemonSet has a pod there, at once. Every call is noted; `before` may fail it, or do something else
 * first.
 */
export class ClusterInMemory implements MigratedCluster, NodeInspector {
  readonly calls: string[] = [];
  readonly labels = new Map<string, Map<string, string>>();
  sets: readonly ProxyDaemonSet[] = [kubeProxy, iptables];
  before: (call: string) => void | Promise<void> = () => undefined;
  says: (plan: InspectedPlan) => Inspection = () => equal();
  /** Pods that somebody else started. */
  others: readonly ProxyPod[] = [];
  isReady: (node: string, daemonSet: string) => boolean = () => true;

  constructor(nodes: Readonly<Record<string, string>> = { n1: 'kube-proxy', n2: 'kube-proxy' }) {
    for (const [name, value] of Object.entries(nodes))
      this.labels.set(name, new Map([['service-proxy', value]]));
  }

  /** The value of the label of each node. */
  get where(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries([...this.labels].map(([name, labels]) => [name, labels.get('service-proxy')]));
  }

  async nodes(signal: AbortSignal): Promise<readonly ClusterNode[]> {
    await this.called('nodes', signal);
    return [...this.labels].map(([name, labels]) => ({ name, labels: Object.fromEntries(labels) }));
  }

  async daemonSets(signal: AbortSignal): Promise<readonly ProxyDaemonSet[]> {
    await this.called('daemonSets', signal);
    return this.sets;
  }

  async pods(signal: AbortSignal, node?: string): Promise<readonly ProxyPod[]> {
    await this.called(`pods ${node ?? 'all'}`, signal);
    const made = [...this.labels].flatMap(([name, labels]) =>
      this.sets
        .filter(({ nodeSelector }) =>
          Object.entries(nodeSelector).every(([key, value]) => labels.get(key) === value),
        )
        .map((set): ProxyPod => {
          const isReady = this.isReady(name, set.name);
          return {
            name: `${set.name}-${name}`,
            node: name,
            daemonSet: set.name,
            isReady,
            state: isReady ? 'ready' : 'CrashLoopBackOff',
          };
        }),
    );
    return [...made, ...this.others].filter((pod) => node === undefined || pod.node === node);
  }

  async label(node: string, key: string, value: string | undefined, signal: AbortSignal): Promise<void> {
    await this.called(`label ${node} ${value ?? '-'}`, signal);
    const labels = this.labels.get(node)!;
    if (value === undefined) labels.delete(key);
    else labels.set(key, value);
  }

  async inspect(plan: InspectedPlan, signal: AbortSignal): Promise<Inspection> {
    await this.called(`inspect ${plan.node} ${plan.mode}${plan.moved ? ' moved' : ''}`, signal);
    return this.says(plan);
  }

  private async called(call: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.calls.push(call);
    await this.before(call);
    signal.throwIfAborted();
  }
}

/** Time goes on by itself as soon as somebody waits for it. */
export class HastyClock implements Clock {
  private time = 0;

  now(): number {
    return this.time;
  }

  steady(): number {
    return this.time;
  }

  after(milliseconds: number, callback: () => void): Timer {
    const immediate = setImmediate(() => {
      this.time += milliseconds;
      callback();
    });
    return { cancel: () => clearImmediate(immediate) };
  }
}
