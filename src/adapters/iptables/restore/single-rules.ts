import { sharedHolds, type DesiredSharedChain } from '../../../domain/iptables/state/desired-tables.js';
import { claimId } from '../../../domain/iptables/state/owned-rules.js';
import type { RuleText } from '../../../domain/iptables/table.js';
import { getOrMake } from '../../../domain/model/get-or-make.js';

/** What is done with one rule of a chain. */
export interface RuleStep {
  readonly act: 'insert' | 'append' | 'delete';
  readonly rule: RuleText;
  /** How many rules there are before one that is inserted. */
  readonly behind?: number;
}

/** What puts a shared chain right without touching its other rules: before what leads packets changes, and afterwards. */
export interface SingleRules {
  readonly first: readonly RuleStep[];
  readonly last: readonly RuleStep[];
}

/** What does not follow the usual order: missing rules come first, surplus ones go last. */
export interface SingleRulesOrder {
  /** Missing rules that come last. */
  readonly isLate: (rule: RuleText) => boolean;
  /** Surplus rules that go first. */
  readonly isEarly: (rule: RuleText) => boolean;
}

/**
 * A rule that stands before one about the same packets, which it should follow, is inserted behind that and deleted where it was.
 * @returns undefined when they are more than `most`, or would leave rules in a wrong order
 */
export function singleRules(
  chain: DesiredSharedChain,
  actual: readonly RuleText[],
  most: number,
  { isLate, isEarly }: SingleRulesOrder,
): SingleRules | undefined {
  const positions = positionsOf(actual);
  // The tool deletes the first rule of that text, so the later ones are kept.
  const kept = [...chain.before, ...chain.entries.map(({ entry }) => entry.rule), ...chain.after]
    .reverse()
    .map((rule) => positions.get(rule)?.pop())
    .reverse();
  const isMissing = kept.map((position) => position === undefined);
  const before = isMissing.slice(0, chain.before.length);
  const misplaced: RuleText[] = [];
  const reached = new Map<string, number>();
  const entries = chain.entries.map(({ entry }, index) => {
    const position = kept[chain.before.length + index];
    if (position === undefined) return true;
    const packets = claimId(entry);
    const isMisplaced = position < (reached.get(packets) ?? 0);
    if (isMisplaced) misplaced.push(entry.rule);
    else reached.set(packets, position);
    return isMisplaced;
  });
  const after = chain.after.filter((_, index) => isMissing.at(index - chain.after.length));
  const left = [...positions.values()].flat().sort((one, other) => one - other);
  const surplus = [...misplaced, ...left.map((position) => actual[position]!)];
  const missing = [...before, ...entries].filter(Boolean).length + after.length;
  if (missing + surplus.length > most) return undefined;

  const result = [...actual];
  const [first, last]: [RuleStep[], RuleStep[]] = [[], []];
  const insert = (steps: RuleStep[], rule: RuleText, behind: number): void => {
    result.splice(behind, 0, rule);
    steps.push({ act: 'insert', rule, behind });
  };
  const insertEntries = (steps: RuleStep[], isNow: (rule: RuleText) => boolean): void => {
    let head = chain.before.length;
    const precedingOf = new Map<string, RuleText>();
    for (const [index, { entry }] of chain.entries.entries()) {
      const { rule } = entry;
      if (entries[index] && !isNow(rule)) continue;
      const packets = claimId(entry);
      const preceding = precedingOf.get(packets);
      precedingOf.set(packets, rule);
      if (!entries[index]) continue;
      entries[index] = false;
      insert(steps, rule, preceding === undefined ? head++ : result.lastIndexOf(preceding) + 1);
    }
  };

  for (const [index, rule] of chain.before.entries()) if (before[index]) insert(first, rule, index);
  insertEntries(first, (rule) => !isLate(rule));
  for (const rule of after) first.push({ act: 'append', rule });
  result.push(...after);
  const remove = (steps: RuleStep[], rule: RuleText): void => {
    result.splice(result.indexOf(rule), 1);
    steps.push({ act: 'delete', rule });
  };
  const early = new Set(surplus.filter(isEarly));
  for (const rule of surplus) if (early.has(rule)) remove(first, rule);
  insertEntries(last, () => true);
  for (const rule of surplus) if (!early.has(rule)) remove(last, rule);
  return sharedHolds(chain, result) ? { first, last } : undefined;
}

function positionsOf(rules: readonly RuleText[]): Map<RuleText, number[]> {
  const positions = new Map<RuleText, number[]>();
  for (const [position, rule] of rules.entries()) getOrMake(positions, rule, () => []).push(position);
  return positions;
}
