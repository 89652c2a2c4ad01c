import type { Rule } from '../rules/rule.js';
import type { TableDraft } from './table-draft.js';
import { isBuiltIn } from './table.js';
import type { Variant } from './table-set.js';

/** What this kernel takes and what it does not. Changes while a world goes on. */
export interface KernelTraits {
  /** Matches and targets whose modules are missing. */
  readonly missingExtensions: Set<string>;
  /** Named counters (nfacct). */
  readonly counters: Set<string>;
  /** Texts of rules that are refused, each with the kernel's reason, for so many times. */
  readonly refusals: Refusal[];
}

export interface Refusal {
  /** Part of a rule's text. */
  readonly containing: string;
  /** As `strerror` has it. */
  readonly reason: string;
  times: number;
}

/** A rule that the kernel does not take. */
export interface RefusedRule {
  readonly chain: string;
  readonly rule: Rule;
  /** As `strerror` has it. */
  readonly reason: string;
}

const INVALID = 'Invalid argument';
const MISSING = 'No such file or directory';
/** Rules that were found good in a table, outside its built-in chains. */
const good = new Map<string, WeakSet<Rule>>();

/** All rules of a draft that the kernel rejects, of those that were not there before. */
export function refusedRules(draft: TableDraft, traits: KernelTraits): readonly RefusedRule[] {
  const refused: RefusedRule[] = [];
  for (const { chain, rules } of draft.written()) {
    const former = draft.before.chains.get(chain)?.entries;
    const known = former && former.length > 0 ? new Set(former) : undefined;
    for (const rule of rules) {
      if (known?.has(rule)) continue;
      const reason = ruleProblem(draft.name, rule, traits);
      if (reason !== undefined) refused.push({ chain, rule, reason });
    }
  }
  return refused;
}

/** Why the kernel rejects a rule, wherever it is led to from; as `strerror` has it. */
export function ruleProblem(table: string, rule: Rule, traits: KernelTraits): string | undefined {
  return problemOf(table, rule) ?? momentaryProblem(rule, traits);
}

/** Why it refuses a rule of a built-in chain that has no meaning there. */
export function hookProblem({ hooks }: Rule, table: string, chain: string): string | undefined {
  return hooks && isBuiltIn(table, chain) && !hooks.includes(chain) ? INVALID : undefined;
}

/** Why the kernel rejects a draft as a whole: packets would go round in it, or reach a target from a hook where it has no meaning. */
export function wrongPath(draft: TableDraft, variant: Variant): string | undefined {
  // nf_tables looks at all rules, ip_tables not at those that packets cannot get to.
  const isEnd = ({ isLast }: Rule): boolean => isLast && variant === 'legacy';
  const found = draft.findReached(
    (hook, { hooks }) => (hooks && !hooks.includes(hook) ? INVALID : undefined),
    isEnd,
  );
  if (found === undefined) return undefined;
  // ip_tables looks for circles first.
  const isLoop =
    variant === 'legacy' ? draft.findReached(() => undefined, isEnd) === 'loop' : found === 'loop';
  return isLoop ? 'Too many links' : found;
}

function problemOf(table: string, rule: Rule): string | undefined {
  let goodHere = good.get(table);
  if (!goodHere) good.set(table, (goodHere = new WeakSet()));
  if (goodHere.has(rule)) return undefined;
  for (const extension of rule.extensions) {
    if (extension.table !== undefined && extension.table !== table) return INVALID;
    if (extension.protocol !== undefined && extension.protocol !== rule.protocol) return INVALID;
  }
  goodHere.add(rule);
  return undefined;
}

function momentaryProblem(
  rule: Rule,
  { missingExtensions, counters, refusals }: KernelTraits,
): string | undefined {
  if (missingExtensions.size > 0 && missing(rule, missingExtensions).length > 0) return MISSING;
  if (rule.counters.some((counter) => !counters.has(counter))) return MISSING;
  if (refusals.length === 0) return undefined;
  const refusal = refusals.find(({ containing, times }) => times > 0 && rule.text.includes(containing));
  return refusal?.reason;
}

/** The extensions of a rule that the kernel lacks. */
export function missing({ extensions }: Rule, missingExtensions: ReadonlySet<string>): readonly string[] {
  return extensions.map(({ name }) => name).filter((name) => missingExtensions.has(name));
}
