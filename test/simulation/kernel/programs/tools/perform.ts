import { ParameterProblem, type Rule } from '../rules/extension.js';
import { TARGETS, VERDICTS } from '../rules/targets.js';
import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { isBuiltIn } from '../tables/table.js';
import type { Variant } from '../tables/table-set.js';
import type { CommandLine } from './command-line.js';

/** What a command does to a table. */
export interface Step extends Pick<CommandLine, 'operation' | 'chain' | 'position' | 'name'> {
  readonly rules: readonly Rule[];
}

const MOST_CHAIN_BYTES = 28;

/**
 * Takes a step.
 * @returns why it cannot be taken: the first reason, with several rules or chains
 */
export function perform(draft: TableDraft, step: Step): Obstacle | undefined {
  const { operation, chain = '', position, name = '', rules } = step;
  switch (operation) {
    case 'N':
      return draft.make(chain);
    case 'P':
      return draft.setPolicy(chain, name);
    case 'A':
      return first(rules, (rule) => draft.append(chain, rule));
    case 'I':
      return first(rules, (rule, index) => draft.insert(chain, rule, (position ?? 1) - 1 + index));
    case 'D':
      if (position !== undefined) return draft.removeAt(chain, position - 1);
      return first(rules, (rule) => {
        const at = draft.find(chain, rule);
        if (!draft.has(chain)) return 'no chain';
        return at < 0 ? 'no rule' : draft.removeAt(chain, at);
      });
    case 'C':
      return first(rules, (rule) => (draft.find(chain, rule) < 0 ? 'no rule' : undefined));
    case 'F':
    case 'X':
      return overChains(draft, step);
    default:
      return undefined;
  }
}

function overChains(draft: TableDraft, { operation, chain }: Step): Obstacle | undefined {
  const act = (name: string): Obstacle | undefined => {
    return operation === 'X' ? draft.remove(name) : draft.flush(name);
  };
  if (chain !== undefined) return act(chain);
  // Each is tried, and the last that fails is told of.
  let obstacle: Obstacle | undefined;
  for (const name of operation === 'X' ? [...draft.ownChains()].sort() : draft.allChains())
    obstacle = act(name) ?? obstacle;
  if (operation === 'X') draft.removeIdle();
  return obstacle;
}

/** The chains that nf_tables does not remove when it is asked for all of them. */
export function stuckChains(draft: TableDraft): readonly string[] {
  return draft.ownChains().filter((name) => draft.remove(name) !== undefined);
}

/** Does all, and returns the first obstacle. */
function first<T>(
  values: readonly T[],
  act: (value: T, index: number) => Obstacle | undefined,
): Obstacle | undefined {
  let obstacle: Obstacle | undefined;
  values.forEach((value, index) => (obstacle ??= act(value, index)));
  return obstacle;
}

/**
 * What the tool itself has against a step, before it asks the kernel.
 * @throws ParameterProblem
 */
export function checkStep(step: Step, table: string, variant: Variant): void {
  const { operation, chain = '', name, rules } = step;
  if (operation === 'N') checkChainName(chain, variant);
  const isDrop = (operation === 'P' && name === 'DROP') || rules.some(({ target }) => target === 'DROP');
  if (table === 'nat' && isDrop)
    throw new ParameterProblem(
      '\nThe "nat" table is not intended for filtering, the use of DROP is therefore inhibited.\n\n',
    );
  if (variant === 'nft') rules.forEach(checkProtocol);
}

/** iptables-nft makes expressions of its own of what these match, and so notices itself what the kernel would refuse. */
function checkProtocol({ text, protocol }: Rule): void {
  for (const name of ['tcp', 'udp'])
    if (protocol !== name && text.includes(`-m ${name} `) && new RegExp(`-m ${name} (?:! )?--`).test(text))
      throw new ParameterProblem(`${name.toUpperCase()} match requires '-p ${name}'`);
}

/** @throws ParameterProblem */
export function checkChainName(chain: string, variant: Variant): void {
  const isTooLong = Buffer.byteLength(chain) > MOST_CHAIN_BYTES;
  if (variant === 'legacy') {
    if (isTooLong)
      throw new ParameterProblem(`Invalid chain name \`${chain}' (${MOST_CHAIN_BYTES} chars max)`);
    return;
  }
  if (isTooLong)
    throw new ParameterProblem(
      `chain name \`${chain}' too long (must be under ${MOST_CHAIN_BYTES + 1} chars)`,
    );
  if (/^[-!]/.test(chain)) throw new ParameterProblem(`chain name not allowed to start with \`${chain[0]}'`);
  if (VERDICTS.has(chain) || TARGETS.has(chain))
    throw new ParameterProblem('chain name may not clash with target name');
}

/**
 * That the chains that rules lead to are there.
 * @returns a reason of the kernel, if they lead to a chain that packets reach by themselves
 * @throws ParameterProblem
 */
export function checkTargets(
  draft: TableDraft,
  { rules }: Step,
  variant: Variant,
): 'leads to a hook' | undefined {
  let problem: 'leads to a hook' | undefined;
  for (const { chain, isGoto } of rules) {
    if (chain === undefined) continue;
    if (!draft.has(chain)) throw new ParameterProblem(missingChain(chain, isGoto, variant));
    if (isBuiltIn(draft.name, chain)) problem = 'leads to a hook';
  }
  return problem;
}

function missingChain(chain: string, isGoto: boolean, variant: Variant): string {
  if (variant === 'nft') return `Chain '${chain}' does not exist`;
  return isGoto
    ? `goto '${chain}' is not a chain`
    : `Couldn't load target \`${chain}':No such file or directory\n`;
}

/** What a line of a restore asks for. */
export interface PlacedStep extends Step {
  readonly line: number;
  /** `:CHAIN`: a chain that is made, or emptied. */
  readonly declares: boolean;
}

/** @returns why it cannot be taken */
export function takeStep(draft: TableDraft, step: PlacedStep): Obstacle | undefined {
  return step.declares ? declare(draft, step) : perform(draft, step);
}

/** `:CHAIN`. Built-in chains keep their rules. */
function declare(draft: TableDraft, { chain = '', name }: PlacedStep): Obstacle | undefined {
  if (isBuiltIn(draft.name, chain)) {
    if (name === undefined || name === '-') return draft.touch(chain);
    return draft.setPolicy(chain, name);
  }
  return draft.has(chain) ? draft.flush(chain) : draft.make(chain);
}
