import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { compileNftables } from '../../../domain/nftables/compile.js';
import { RulesetWalk } from '../../domain/nftables/ruleset-walk.js';
import type { FindElement } from '../../domain/nftables/elements.js';
import { rejectedProtocols } from '../../../domain/forwarding/rejected-protocols.js';
import { NftablesDesiredState } from '../../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../domain/nftables/state/desired-table.js';
import type { DesiredWalk } from '../../domain/walk/desired-walk.js';
import { ConcernedEntries } from '../../domain/trace/concerned-entries.js';
import { getOrMake } from '../../../domain/model/maps.js';
import { WrittenTable } from './written-table.js';

/** Many packets that are asked for concern the same entries. */
const TABLES_KEPT = 100;

/** The table that these entries make, as the kernel would get it. For each packet what concerns that packet is compiled. */
export function nftablesDesiredWalk(all: Iterable<ForwardingEntry>, node: NodeNetwork): DesiredWalk {
  const entries = new ConcernedEntries(all);
  const rejected = rejectedProtocols(node);
  const tables = new Map<string, WrittenTable>();
  const tableOf = (concerned: readonly ForwardingEntry[]): WrittenTable => {
    const desired = new NftablesDesiredState();
    for (const entry of concerned) desired.replace(entry.key, compileNftables(entry, [], rejected));
    if (tables.size === TABLES_KEPT) tables.clear();
    return new WrittenTable(node.family, desiredTable(desired, node));
  };
  return {
    walk(packet, { localAddresses }) {
      const concerned = [...entries.of(packet)].sort((one, other) => (one.key < other.key ? -1 : 1));
      const written = getOrMake(tables, concerned.map(({ key }) => key).join(' '), () => tableOf(concerned));
      // Rules of ours ask for the device that a packet came in through, by its name, and for no other one.
      const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
      const find: FindElement = (_, set, key) => written.find(set.name, key);
      return new RulesetWalk(ruleset, packet, localAddresses, find, () => undefined).endings();
    },
  };
}
