import type { Walk } from '../../../../application/ports/tracer.js';
import type { ForwardingEntry } from '../../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../../domain/forwarding/node-network.js';
import { compileNftables } from '../../../../domain/nftables/compile.js';
import { RulesetWalk } from '../../../../domain/nftables/kernel/ruleset-walk.js';
import type { FindElement } from '../../../../domain/nftables/kernel/elements.js';
import { NftablesDesiredState } from '../../../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../../domain/nftables/state/desired-table.js';
import { ConcernedEntries } from '../../../../domain/trace/concerned-entries.js';
import type { Packet, PacketEnvironment } from '../../../../domain/trace/packet.js';
import type { TracedEnding } from '../../../../domain/trace/traced-ending.js';
import { WrittenTable } from './written-table.js';

/** The table that these entries make, as the kernel would get it. For each packet what concerns that packet is compiled. */
export class DesiredWalk implements Walk {
  private readonly entries: ConcernedEntries;

  constructor(
    entries: Iterable<ForwardingEntry>,
    private readonly node: NodeNetwork,
  ) {
    this.entries = new ConcernedEntries(entries);
  }

  walk(packet: Packet, { localAddresses }: PacketEnvironment): readonly TracedEnding[] {
    const desired = new NftablesDesiredState();
    const concerned = this.entries.of(packet);
    for (const entry of concerned) desired.replace(entry.key, compileNftables(entry));
    const written = new WrittenTable(this.node.family, desiredTable(desired, this.node));
    // Rules of ours ask for the device that a packet came in through, by its name, and for no other one.
    const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
    const find: FindElement = (_, set, key) => written.find(set.name, key);
    return new RulesetWalk(ruleset, packet, localAddresses, find, () => undefined).endings();
  }
}
