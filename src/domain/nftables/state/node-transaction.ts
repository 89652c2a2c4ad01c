import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { NftablesDesiredState } from './desired-state.js';
import { NODEPORT_IPS } from '../layout/sets.js';
import { nodeStructures } from '../layout/structure.js';
import { nodePortKeys, tableChains } from './desired-table.js';
import type { TableChange } from './table-change.js';
import type { Transaction } from './transaction.js';

/** Notes the structures that come and go with a change of the node. */
export function changeNodeStructures(before: NodeNetwork, after: NodeNetwork, change: TableChange): void {
  for (const structure of nodeStructures(after)) change.structureCame(structure);
  for (const structure of nodeStructures(before)) change.structureWent(structure);
}

/**
 * Adds the operations that a change of the node (its addresses, service ranges, options) requires, besides those for its
 * structures.
 */
export function nodeTransaction(
  before: NodeNetwork,
  after: NodeNetwork,
  desired: NftablesDesiredState,
  transaction: Transaction,
): void {
  const former = new Map(
    tableChains(desired, before).map((chain) => [chain.chain.name, JSON.stringify(chain.rules)]),
  );
  for (const chain of tableChains(desired, after)) {
    const rules = former.get(chain.chain.name);
    if (rules === undefined || rules === JSON.stringify(chain.rules)) continue;
    transaction.add({ op: 'flush-chain', chain: chain.chain.name });
    transaction.addRules(chain);
  }
  const previous = nodePortKeys(before);
  const present = nodePortKeys(after);
  const removed = previous.filter((key) => !present.includes(key)).map((key) => ({ key }));
  const added = present.filter((key) => !previous.includes(key)).map((key) => ({ key }));
  if (removed.length > 0) transaction.add({ op: 'delete-elements', set: NODEPORT_IPS, elements: removed });
  if (added.length > 0) transaction.add({ op: 'add-elements', set: NODEPORT_IPS, elements: added });
}
