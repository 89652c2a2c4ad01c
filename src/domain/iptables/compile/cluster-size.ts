import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import type { ServicePortKey } from '../../model/service-port-name.js';

/** More endpoints than this make a cluster large (docs/spec/iptables.md §11.3). */
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
