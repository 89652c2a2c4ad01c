import type { IpFamily } from '../../../domain/net/ip-family.js';
import { sameElement } from '../../../domain/nftables/state/service-port-rules.js';
import { MAP_OF_ANOTHER_LAYOUT } from '../../../domain/nftables/layout/sets.js';
import type { SetDefinition, SetElement } from '../../../domain/nftables/layout/table.js';
import type { DesiredSet, DesiredTable } from '../../../domain/nftables/state/desired-table.js';
import { Transaction } from '../../../domain/nftables/state/transaction.js';
import type { NftTransport, TableState } from '../transport.js';

const TABLE_COMMENT = 'rules for kube-proxy';

/** The difference between the kernel's table and the desired table. */
export interface TableDifference {
  /** To be applied at once. Empty if nothing differs. */
  readonly repair: Transaction;
  /**
   * To be applied afterwards, one transaction after the other: removes sets and chains that nothing refers to once
   * `repair` is applied. Sets come first, because their elements may lead to the chains; before Linux 6.2 both cannot
   * go together.
   */
  readonly removals: readonly Transaction[];
  /** The present table cannot be changed into the desired one, so it is replaced as a whole. */
  readonly replaces: boolean;
}

/** Finds the smallest change that turns the kernel's table into the desired one. */
export function tableDifference(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
  transport: NftTransport,
): TableDifference {
  const repair = new Transaction();
  const sets = desired.sets.map(({ set }) => set);
  const replaces =
    state !== undefined &&
    (isOfAnotherLayout(state) || !fits(desired.chains, sets, state, family, transport));
  if (replaces) repair.add({ op: 'delete-table' });
  const present = replaces ? undefined : state;
  if (!present) repair.add({ op: 'add-table', comment: TABLE_COMMENT });
  for (const set of sets) if (!present?.sets.has(set.name)) repair.add({ op: 'add-set', set });
  for (const { chain } of desired.chains)
    if (!present?.chains.has(chain.name)) repair.add({ op: 'add-chain', chain });
  repairRules(desired, present, family, transport, repair);
  const removals = present ? removeUnknown(desired, present, repair) : [];
  for (const set of desired.sets) repairElements(set, present, repair);
  return { repair, removals, replaces };
}

/** Whether the table is kube-proxy's, or an earlier version's: anything else in it may be an old leftover. */
export function isOfAnotherLayout(state: TableState): boolean {
  return state.sets.has(MAP_OF_ANOTHER_LAYOUT);
}

/** Base chains and sets cannot be changed in place: another hook, type or key needs a new table. */
export function fits(
  chains: DesiredTable['chains'],
  sets: readonly SetDefinition[],
  state: TableState,
  family: IpFamily,
  transport: NftTransport,
): boolean {
  const chainsFit = chains.every(({ chain }) => {
    const present = state.chains.get(chain.name);
    return !present || present.fingerprint === transport.fingerprintChain(chain);
  });
  return (
    chainsFit &&
    sets.every((set) => {
      const present = state.sets.get(set.name);
      return !present || present.fingerprint === transport.fingerprintSet(family, set);
    })
  );
}

function repairRules(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
  transport: NftTransport,
  repair: Transaction,
): void {
  for (const chain of desired.chains) {
    const present = state?.chains.get(chain.chain.name)?.rules ?? [];
    const wanted = chain.rules.map((rule) => transport.fingerprintRule(family, rule));
    if (present.length === wanted.length && wanted.every((text, index) => text === present[index])) continue;
    if (present.length > 0) repair.add({ op: 'flush-chain', chain: chain.chain.name });
    repair.addRules(chain);
  }
}

/**
 * The whole table belongs to the proxy, so anything unknown is removed: chains of classes long unused, rules of other
 * programs.
 */
function removeUnknown(
  desired: DesiredTable,
  state: TableState,
  repair: Transaction,
): readonly Transaction[] {
  const unknownSets = new Transaction();
  const unknownChains = new Transaction();
  const chains = new Set(desired.chains.map(({ chain }) => chain.name));
  for (const [name, { rules }] of state.chains) {
    if (chains.has(name)) continue;
    if (rules.length > 0) repair.add({ op: 'flush-chain', chain: name });
    unknownChains.add({ op: 'delete-chain', chain: name });
  }
  const sets = new Set(desired.sets.map(({ set }) => set.name));
  for (const name of state.sets.keys()) {
    if (!sets.has(name)) unknownSets.add({ op: 'delete-set', set: { name, key: [] } });
  }
  return [unknownSets, unknownChains];
}

function repairElements(
  { set, elements, owners }: DesiredSet,
  state: TableState | undefined,
  repair: Transaction,
): void {
  if (set.dynamicSize !== undefined) return;
  const present = state?.sets.get(set.name)?.elements;
  if (!present || present.size === 0) {
    if (elements.length > 0) repair.add({ op: 'add-elements', set, elements }, owners);
    return;
  }
  const removed: SetElement[] = [];
  const added: SetElement[] = [];
  const addedFor: (string | undefined)[] = [];
  const wanted = new Set<string>();
  elements.forEach((element, index) => {
    wanted.add(element.key);
    const its = present.get(element.key);
    if (its && sameElement(its, element)) return;
    if (its) removed.push(its);
    added.push(element);
    addedFor.push(owners[index]);
  });
  for (const [key, element] of present) if (!wanted.has(key)) removed.push(element);
  if (removed.length > 0) repair.add({ op: 'delete-elements', set, elements: removed });
  if (added.length > 0) repair.add({ op: 'add-elements', set, elements: added }, addedFor);
}
