import { nftablesSide } from '../../domain/compare/nftables-side.js';
import type { Side } from '../../domain/compare/side.js';
import { rejectedProtocols } from '../../../domain/forwarding/rejected-protocols.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { compileNftables } from '../../../domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../domain/nftables/state/desired-table.js';
import { WrittenTable } from './written-table.js';

/** What mode nftables would write for these entries. */
export function plannedNftables(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Side {
  const desired = new NftablesDesiredState();
  const rejected = rejectedProtocols(node);
  for (const entry of entries) desired.replace(entry.key, compileNftables(entry, [], rejected));
  const written = new WrittenTable(node.family, desiredTable(desired, node));
  const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
  return nftablesSide(ruleset, node.family, (_, { name }) => written.elements(name));
}
