import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import { ConcernedEntries } from '../../trace/concerned-entries.js';
import type { Packet } from '../../trace/packet.js';

/** Finds the few entries whose rules a packet may meet in a mode that writes to iptables. */
export class IptablesConcernedEntries {
  private readonly entries: ConcernedEntries;
  private readonly byHealthCheck = new Map<number, ForwardingEntry[]>();

  constructor(entries: readonly ForwardingEntry[]) {
    this.entries = new ConcernedEntries(entries);
    for (const entry of entries) {
      const { healthCheckNodePort: port } = entry;
      if (port !== 0) this.byHealthCheck.set(port, [...(this.byHealthCheck.get(port) ?? []), entry]);
    }
  }

  /** Besides those that the packet is sent to: those whose health checks it may be, and those whose address it comes from. */
  of({ source, destination, destinationPort: port }: Packet): ReadonlySet<ForwardingEntry> {
    return new Set([
      ...this.entries.of(source, destination, port),
      ...this.entries.of(source, source, port),
      ...(this.byHealthCheck.get(port) ?? []),
    ]);
  }
}
