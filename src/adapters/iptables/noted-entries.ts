import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { ClusterSize } from '../../domain/iptables/compile/cluster-size.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** The forwarding entries of one family as they were handed over last, and how they are to be compiled. */
export class NotedEntries {
  private readonly size = new ClusterSize();
  private readonly byKey = new Map<ServicePortKey, ForwardingEntry>();

  /** Whether fragments compiled from now on are those of a large cluster. */
  get isLarge(): boolean {
    return this.size.isLarge;
  }

  get(key: ServicePortKey): ForwardingEntry | undefined {
    return this.byKey.get(key);
  }

  all(): Iterable<readonly [ServicePortKey, ForwardingEntry]> {
    return this.byKey;
  }

  /** Takes note of an entry; undefined when it is gone. */
  note(key: ServicePortKey, entry: ForwardingEntry | undefined): void {
    this.size.note(key, entry);
    if (entry) this.byKey.set(key, entry);
    else this.byKey.delete(key);
  }
}
