import { setImmediate as breathe } from 'node:timers/promises';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { ClusterSize } from '../../domain/iptables/cluster-size.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** Entries between two looks at what else there is to do: a millisecond or two. */
const NOTED_AT_ONCE = 128;

/** The forwarding entries of one family as they were handed over last, and how they are to be compiled. */
export class NotedEntries {
  private readonly size = new ClusterSize();
  private readonly byKey = new Map<ServicePortKey, ForwardingEntry>();
  private coming: Iterator<ForwardingEntry> = [].values();

  /** Whether fragments compiled from now on are those of a large cluster. */
  get isLarge(): boolean {
    return this.size.isLarge;
  }

  get(key: ServicePortKey): ForwardingEntry | undefined {
    return this.byKey.get(key);
  }

  /** Takes note of an entry; undefined when it is gone. */
  note(key: ServicePortKey, entry: ForwardingEntry | undefined): void {
    this.size.note(key, entry);
    if (entry) this.byKey.set(key, entry);
    else this.byKey.delete(key);
  }

  /**
   * Takes note of entries that are computed while they are gone through: as long as the host is being read, and until it
   * is certain how to compile them. `all` takes note of the rest.
   */
  async noteMeanwhile(coming: Iterable<ForwardingEntry>, reading: Promise<unknown>): Promise<void> {
    this.coming = coming[Symbol.iterator]();
    let isReading = true;
    const ended = () => void (isReading = false);
    reading.then(ended, ended);
    for (let count = 0; isReading || !this.isLarge; count++) {
      // The first time that lets the tools start.
      if (count % NOTED_AT_ONCE === 0) await breathe();
      if (!this.noteNext()) return;
    }
  }

  /** All entries: those that are still to come are computed when it is their turn. */
  *all(): Generator<readonly [ServicePortKey, ForwardingEntry]> {
    yield* this.byKey;
    for (let entry = this.noteNext(); entry; entry = this.noteNext()) yield [entry.key, entry];
  }

  private noteNext(): ForwardingEntry | undefined {
    const next = this.coming.next();
    if (next.done === true) return undefined;
    this.note(next.value.key, next.value);
    return next.value;
  }
}
