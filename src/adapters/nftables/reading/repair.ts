import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { SetElement } from '../../../domain/nftables/layout/table.js';
import type { DesiredSet, DesiredTable } from '../../../domain/nftables/state/desired-table.js';
import { Transaction } from '../../../domain/nftables/state/transaction.js';
import type { NftTransport, TableState } from '../transport.js';
import { elementDifferences, tableDifference } from './difference.js';

const TABLE_COMMENT = 'rules for kube-proxy';

/** What turns the kernel's table into the desired one. */
export interface TableRepair {
  /** To be applied at once. Empty if nothing differs. */
  readonly repair: Transaction;
  /**
   * To be applied afterwards, one transaction after the other: removes sets, chains and counters that nothing refers to once
   * `repair` is applied. Sets come first, because their elements may lead to the chains; before Linux 6.2 both cannot
   * go together.
   */
  readonly removals: readonly Transaction[];
  /** The present table cannot be changed into the desired one, so it is replaced as a whole. */
  readonly replaces: boolean;
}

/**
 * The smallest change that turns the kernel's table into the desired one. The whole table belongs to the proxy, so anything
 * unknown is removed: chains of classes long unused, rules of other programs.
 */
export function tableRepair(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
  transport: NftTransport,
): TableRepair {
  const difference = tableDifference(desired, state, family, transport);
  const { present, replaces } = difference;
  const repair = new Transaction();
  if (replaces) repair.add({ op: 'delete-table' });
  if (!present) repair.add({ op: 'add-table', comment: TABLE_COMMENT });
  for (const set of difference.missingSets) repair.add({ op: 'add-set', set });
  for (const counter of difference.missingCounters) repair.add({ op: 'add-counter', counter });
  for (const chain of difference.missingChains) repair.add({ op: 'add-chain', chain });
  for (const { chain, actual } of difference.chains) {
    if (actual.length > 0) repair.add({ op: 'flush-chain', chain: chain.chain.name });
    repair.addRules(chain);
  }
  const [unknownSets, unknownChains] = [new Transaction(), new Transaction()];
  for (const name of difference.unknownSets) unknownSets.add({ op: 'delete-set', set: { name, key: [] } });
  for (const { name, rules } of difference.unknownChains) {
    if (rules.length > 0) repair.add({ op: 'flush-chain', chain: name });
    unknownChains.add({ op: 'delete-chain', chain: name });
  }
  for (const counter of difference.unknownCounters) unknownChains.add({ op: 'delete-counter', counter });
  for (const set of desired.sets) repairElements(set, present, repair);
  return { repair, removals: present ? [unknownSets, unknownChains] : [], replaces };
}

function repairElements(desired: DesiredSet, state: TableState | undefined, repair: Transaction): void {
  const { set } = desired;
  const removed: SetElement[] = [];
  const added: SetElement[] = [];
  const addedFor: (ServicePortKey | undefined)[] = [];
  for (const { actual, wanted, owner } of elementDifferences(desired, state)) {
    if (actual) removed.push(actual);
    if (!wanted) continue;
    added.push(wanted);
    addedFor.push(owner);
  }
  if (removed.length > 0) repair.add({ op: 'delete-elements', set, elements: removed });
  if (added.length > 0) repair.add({ op: 'add-elements', set, elements: added }, addedFor);
}
