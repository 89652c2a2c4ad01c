import isEqual from 'fast-deep-equal';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { ruleText } from '../../domain/nftables/kernel/rule-text.js';
import { POSSIBLE_SETS } from '../../domain/nftables/layout/sets.js';
import type { Structure } from '../../domain/nftables/layout/structure.js';
import { nftFamily, TABLE_NAME, type SetElement } from '../../domain/nftables/layout/table.js';
import type { DesiredSet, DesiredTable } from '../../domain/nftables/state/desired-table.js';
import {
  differing,
  type RuleDifference,
  sequenceDifference,
} from '../../domain/reconcile/rule-difference.js';
import { renderElement, setKeyword } from './render-text.js';
import { elementDifferences, tableDifference, type ChainDifference } from './table-difference.js';
import type { TableState } from './transport.js';

/**
 * The difference between the kernel's table and the desired one in the words of `nft add` and `nft delete`.
 * @param unused structures that have to stay for a while
 */
export function* ruleDifferences(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
  unused: Iterable<Structure>,
): Generator<RuleDifference> {
  const table = `${nftFamily(family)} ${TABLE_NAME}`;
  const leaving = new Leaving(unused);
  const difference = tableDifference(desired, state, family);
  const { present, replaces } = difference;
  if (replaces) yield differing('-', `table ${table}, which has another layout`);
  if (!present) yield differing('+', `table ${table}`);
  for (const name of difference.unknownSets) {
    if (leaving.names.has(name)) continue;
    const known = POSSIBLE_SETS.find((set) => set.name === name);
    yield differing('-', `${known ? setKeyword(known) : 'set'} ${table} ${name}`);
  }
  for (const set of difference.missingSets) yield differing('+', `${setKeyword(set)} ${table} ${set.name}`);
  for (const name of difference.unknownCounters)
    if (!leaving.names.has(name)) yield differing('-', `counter ${table} ${name}`);
  for (const name of difference.missingCounters) yield differing('+', `counter ${table} ${name}`);
  for (const { name, rules } of difference.unknownChains) {
    if (leaving.names.has(name)) continue;
    for (const rule of rules) yield differing('-', `rule ${table} ${name} ${ruleText(rule, family)}`);
    yield differing('-', `chain ${table} ${name}`);
  }
  for (const { name } of difference.missingChains) yield differing('+', `chain ${table} ${name}`);
  for (const chain of difference.chains) yield* differingRules(chain, table, family);
  for (const set of desired.sets) yield* differingElements(set, present, table, leaving, family);
}

/** The remaining content of unused structures in the table. */
class Leaving {
  readonly names = new Set<string>();
  /** Each as set and key. */
  readonly elements = new Set<string>();

  constructor(unused: Iterable<Structure>) {
    for (const { name, counter, leading } of unused) {
      this.names.add(name);
      if (counter !== undefined) this.names.add(counter);
      if (leading) this.elements.add(`${leading.set.name} ${leading.element.key}`);
    }
  }
}

function* differingRules(
  { chain: { chain, rules }, actual }: ChainDifference,
  table: string,
  family: IpFamily,
): Generator<RuleDifference> {
  const place = `rule ${table} ${chain.name}`;
  const ours = new Map(rules.map((rule) => [ruleText(rule, family), rule]));
  const wanted = [...ours.keys()];
  const present = actual.map((rule) => {
    const text = ruleText(rule, family);
    return ours.has(text) && !isEqual(ours.get(text), rule) ? `${text}, with other options` : text;
  });
  const { unexpected, missing } = sequenceDifference(present, wanted);
  for (const index of unexpected) yield differing('-', `${place} ${present[index]!}`);
  for (const index of missing) yield differing('+', `${place} ${wanted[index]!}`);
}

function* differingElements(
  desired: DesiredSet,
  state: TableState | undefined,
  table: string,
  leaving: Leaving,
  family: IpFamily,
): Generator<RuleDifference> {
  const { set } = desired;
  const line = (element: SetElement): string =>
    `element ${table} ${set.name} { ${renderElement(family, set, element)} }${element.hasMore ? ', with expressions' : ''}`;
  for (const { actual, wanted, owner } of elementDifferences(desired, state)) {
    if (actual && wanted) yield differing('-', line(actual), owner);
    if (wanted) yield differing('+', line(wanted), owner);
    else if (actual && !leaving.elements.has(`${set.name} ${actual.key}`)) {
      const { comment } = actual;
      yield { ...differing('-', line(actual)), ...(comment !== undefined && { servicePort: comment }) };
    }
  }
}
