import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  nftFamily,
  TABLE_NAME,
  type SetDefinition,
  type SetElement,
} from '../../../domain/nftables/layout/table.js';
import type { ChainRules } from '../../../domain/nftables/layout/node-rules.js';
import { POSSIBLE_SETS } from '../../../domain/nftables/layout/sets.js';
import { classElement, type Structure } from '../../../domain/nftables/layout/structure.js';
import type { DesiredSet, DesiredTable } from '../../../domain/nftables/state/desired-table.js';
import { sameElement } from '../../../domain/nftables/state/service-port-rules.js';
import { renderElement, setKeyword } from '../../../domain/nftables/text/render-set.js';
import { renderRule } from '../../../domain/nftables/text/render-text.js';
import { differing, type RuleDifference } from '../../../domain/reconcile/rule-difference.js';
import { sequenceDifference } from '../../../domain/reconcile/sequence-difference.js';
import type { NftTransport, TableState } from '../transport.js';
import { fits, isOfAnotherLayout } from './difference.js';

/**
 * The difference between the kernel's table and the desired one in the words of `nft add` and `nft delete`. A rule that is not one
 * of ours is described as the transport describes it.
 * @param idle structures that are no longer needed and still have to stand for a while
 */
export function* ruleDifferences(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
  transport: NftTransport,
  idle: Iterable<Structure>,
): Generator<RuleDifference> {
  const table = `${nftFamily(family)} ${TABLE_NAME}`;
  const sets = desired.sets.map(({ set }) => set);
  const isReplaced =
    state && (isOfAnotherLayout(state) || !fits(desired.chains, sets, state, family, transport));
  const present = isReplaced ? undefined : state;
  if (isReplaced) yield differing('-', `table ${table}, which has another layout`);
  if (!present) yield differing('+', `table ${table}`);
  const leaving = new Leaving(idle);
  yield* differingSets(desired, present, table, leaving);
  yield* differingChains(desired.chains, present, table, leaving);
  for (const chain of desired.chains) {
    const rules = present?.chains.get(chain.chain.name)?.rules ?? [];
    yield* differingRules(chain, rules, `rule ${table} ${chain.chain.name}`, family, transport);
  }
  for (const set of desired.sets) yield* differingElements(set, present, table, leaving);
}

/** What idle structures still have in the table. */
class Leaving {
  private readonly names = new Set<string>();
  private readonly elements = new Set<string>();

  constructor(idle: Iterable<Structure>) {
    for (const structure of idle) {
      this.names.add(structure.name);
      const placed = classElement(structure);
      if (placed) this.elements.add(`${placed.set.name} ${placed.element.key}`);
    }
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  hasElement(set: SetDefinition, key: string): boolean {
    return this.elements.has(`${set.name} ${key}`);
  }
}

function* differingSets(
  desired: DesiredTable,
  state: TableState | undefined,
  table: string,
  leaving: Leaving,
): Generator<RuleDifference> {
  const wanted = new Set(desired.sets.map(({ set }) => set.name));
  for (const name of state?.sets.keys() ?? []) {
    if (wanted.has(name) || leaving.has(name)) continue;
    const known = POSSIBLE_SETS.find((set) => set.name === name);
    yield differing('-', `${known ? setKeyword(known) : 'set'} ${table} ${name}`);
  }
  for (const { set } of desired.sets)
    if (!state?.sets.has(set.name)) yield differing('+', `${setKeyword(set)} ${table} ${set.name}`);
}

function* differingChains(
  desired: readonly ChainRules[],
  state: TableState | undefined,
  table: string,
  leaving: Leaving,
): Generator<RuleDifference> {
  const wanted = new Set(desired.map(({ chain }) => chain.name));
  for (const [name, { rules }] of state?.chains ?? []) {
    if (wanted.has(name) || leaving.has(name)) continue;
    for (const rule of rules) yield differing('-', `rule ${table} ${name} ${rule}`);
    yield differing('-', `chain ${table} ${name}`);
  }
  for (const name of wanted) if (!state?.chains.has(name)) yield differing('+', `chain ${table} ${name}`);
}

function* differingRules(
  { rules }: ChainRules,
  actual: readonly string[],
  place: string,
  family: IpFamily,
  transport: NftTransport,
): Generator<RuleDifference> {
  const wanted = rules.map((rule) => transport.fingerprintRule(family, rule));
  const { surplus, missing } = sequenceDifference(actual, wanted);
  const ours = new Map(wanted.map((text, index) => [text, rules[index]!]));
  for (const index of surplus) {
    const text = actual[index]!;
    const rule = ours.get(text);
    yield differing('-', `${place} ${rule ? renderRule(family, rule) : text}`);
  }
  for (const index of missing) yield differing('+', `${place} ${renderRule(family, rules[index]!)}`);
}

function* differingElements(
  { set, elements, owners }: DesiredSet,
  state: TableState | undefined,
  table: string,
  leaving: Leaving,
): Generator<RuleDifference> {
  if (set.dynamicSize !== undefined) return;
  const present = state?.sets.get(set.name)?.elements ?? new Map<string, SetElement>();
  const line = (element: SetElement): string =>
    `element ${table} ${set.name} { ${renderElement(set, element)} }`;
  const wanted = new Set<string>();
  for (const [index, element] of elements.entries()) {
    wanted.add(element.key);
    const its = present.get(element.key);
    if (its && sameElement(its, element)) continue;
    if (its) yield differing('-', line(its), owners[index]);
    yield differing('+', line(element), owners[index]);
  }
  for (const [key, element] of present) {
    if (wanted.has(key) || leaving.hasElement(set, key)) continue;
    const { comment } = element;
    yield { ...differing('-', line(element)), ...(comment !== undefined && { servicePort: comment }) };
  }
}
