/** Inputs of compiled rules: the host, the options and the size of the cluster. */

import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../forwarding/node-network.js';
import type { ServicePortKey } from '../model/service-port-name.js';

/** Properties of this host's kernel and tools that affect the rules. */
export interface IptablesHost {
  /** The tool supports MASQUERADE --random-fully (1.6.2 and later). */
  readonly randomFully: boolean;
  /** Sysctl nf_conntrack_tcp_be_liberal: packets out of window are no mistake, so they are not dropped. */
  readonly tcpLiberal: boolean;
  /** The nfacct counters that exist, so that rules may name them (docs/internals/spec/iptables.md §15). */
  readonly counters: ReadonlySet<CounterName>;
}

/** nfacct counters of the iptables mode; one set of them for both families. */
export type CounterName = 'ct_state_invalid_dropped_pkts' | 'localhost_nps_accepted_pkts';

export const COUNTER_NAMES: readonly CounterName[] = [
  'ct_state_invalid_dropped_pkts',
  'localhost_nps_accepted_pkts',
];

/** Inputs of the rules of a service port besides its forwarding entry. */
export interface IptablesOptions {
  readonly node: Pick<NodeNetwork, 'detector' | 'masqueradeAll' | 'localhostNodePorts'>;
  readonly host: Pick<IptablesHost, 'counters'>;
  /** Leaves out the comments of endpoints, of which there are many (docs/internals/spec/iptables.md §11.3). */
  readonly largeCluster: boolean;
}

/** Whether rules compiled for one node are those for the other as well. */
export function compilesAlike(one: IptablesOptions['node'], other: IptablesOptions['node']): boolean {
  return (
    one.masqueradeAll === other.masqueradeAll &&
    Boolean(one.localhostNodePorts) === Boolean(other.localhostNodePorts) &&
    JSON.stringify(one.detector) === JSON.stringify(other.detector)
  );
}

/** The masquerade mark, as iptables-save prints it. */
export function masqueradeMark(bit: number): string {
  return `0x${((1 << bit) >>> 0).toString(16)}`;
}

/** The match that counts packets. */
export function countedBy(counter: CounterName): string {
  return `-m nfacct --nfacct-name ${counter}`;
}

/** More endpoints than this make a cluster large (docs/internals/spec/iptables.md §11.3). */
const LARGE = 1000;

/** Counts the endpoints of all service ports of a family. */
export class ClusterSize {
  private readonly counts = new Map<ServicePortKey, number>();
  private total = 0;

  /**
   * Whether rules compiled from now on go without the comments of endpoints. Crossing the limit does not change rules that
   * are compiled already.
   */
  get isLarge(): boolean {
    return this.total > LARGE;
  }

  /** Takes note of a service port; `entry` undefined when it is gone. */
  note(key: ServicePortKey, entry: ForwardingEntry | undefined): void {
    this.total += (entry?.knownEndpoints ?? 0) - (this.counts.get(key) ?? 0);
    if (entry) this.counts.set(key, entry.knownEndpoints);
    else this.counts.delete(key);
  }
}

/** Whether these are the service ports of a large cluster. */
export function isLargeCluster(entries: Iterable<ForwardingEntry>): boolean {
  const size = new ClusterSize();
  for (const entry of entries) size.note(entry.key, entry);
  return size.isLarge;
}
