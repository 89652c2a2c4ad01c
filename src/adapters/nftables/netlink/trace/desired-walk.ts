import type { ForwardingEntry } from '../../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../../domain/forwarding/node-network.js';
import { compileNftables } from '../../../../domain/nftables/compile.js';
import { RulesetWalk } from '../../../../domain/nftables/kernel/ruleset-walk.js';
import type { FindElement } from '../../../../domain/nftables/kernel/elements.js';
import { NftablesDesiredState } from '../../../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../../domain/nftables/state/desired-table.js';
import type { DesiredWalk } from '../../../../domain/walk/desired-walk.js';
import { ConcernedEntries } from '../../../../domain/trace/concerned-entries.js';
import { WrittenTable } from './written-table.js';

/** The table that these entries make, as the kernel would get it. For each packet what concerns that packet is compiled. */
export function nftablesDesiredWalk(all: Iterable<ForwardingEntry>, node: NodeNetwork): DesiredWalk {
  const entries = new ConcernedEntries(all);
  return {
    walk(packet, { localAddresses }) {
      const desired = new NftablesDesiredState();
      for (const entry of entries.of(packet)) desired.replace(entry.key, compileNftables(entry));
      const written = new WrittenTable(node.family, desiredTable(desired, node));
      // Rules of ours ask for the device that a packet came in through, by its name, and for no other one.
      const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
      const find: FindElement = (_, set, key) => written.find(set.name, key);
      return new RulesetWalk(ruleset, packet, localAddresses, find, () => undefined).endings();
    },
  };
}
