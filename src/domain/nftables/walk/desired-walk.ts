import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import { compileNftables } from '../compile.js';
import { NftablesDesiredState } from '../state/desired-state.js';
import { desiredTable } from '../state/desired-table.js';
import { contentsOf } from '../text/table-contents.js';
import { ConcernedEntries } from '../../trace/concerned-entries.js';
import type { Ending } from './ending.js';
import { walk } from './walk.js';

/** Follows packets through the table that these entries make. For each packet it compiles what concerns that packet. */
export class DesiredWalk {
  private readonly entries: ConcernedEntries;

  constructor(
    entries: Iterable<ForwardingEntry>,
    private readonly node: NodeNetwork,
  ) {
    this.entries = new ConcernedEntries(entries);
  }

  walk(packet: Packet, environment: PacketEnvironment): readonly Ending[] {
    const desired = new NftablesDesiredState();
    const concerned = this.entries.of(packet.source, packet.destination, packet.destinationPort);
    for (const entry of concerned) desired.replace(entry.key, compileNftables(entry));
    return walk(contentsOf(desiredTable(desired, this.node)), packet, environment);
  }
}
