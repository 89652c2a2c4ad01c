import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { NftablesDesiredState } from './desired-state.js';
import { NODEPORT_IPS } from '../layout/sets.js';
import { nodePortKeys, tableChains } from './desired-table.js';
import type { Transaction } from './transaction.js';

/** Adds the operations that a change of the node (its addresses, service ranges, options) requires. */
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
    if (former.get(chain.chain.name) === JSON.stringify(chain.rules)) continue;
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
