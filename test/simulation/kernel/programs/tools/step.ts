import { ParameterProblem, TARGETS, VERDICTS } from '../rules/extensions.js';
import type { Rule, RuleBook } from '../rules/rule.js';
import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { isBuiltIn } from '../tables/table.js';
import type { Variant } from '../tables/table-set.js';

/** What a command, or a line of a restore, does to a table. */
export interface Step {
  /** The letter of the option: append, insert, delete, check, flush, delete a chain, new chain, list; `:` makes or empties a chain. */
  readonly operation: 'A' | 'I' | 'D' | 'C' | 'F' | 'X' | 'N' | 'S' | ':';
  /** Undefined: all chains. */
  readonly chain: string | undefined;
  /** From 1. */
  readonly position?: number | undefined;
  readonly rule?: Rule | undefined;
  readonly policy?: string | undefined;
  /** Of a restore, from 1. */
  readonly line?: number;
}

/** A command of `iptables`. */
export interface Command {
  readonly step: Step;
  readonly table: string;
  /** Seconds to wait for the lock. */
  readonly wait: number | undefined;
}

const LINE = /^-([AIDFXN]) (\S+)(?: (\d+))?(?: (.*))?$/;
const TAKES_RULE = 'AIDC';

/** A line of a restore: neither a table nor a COMMIT. @throws ParameterProblem */
export function readLine(text: string, line: number, book: RuleBook): Step {
  const [, operation, chain, place, ruleText = ''] = LINE.exec(text) ?? [];
  if (operation === undefined) throw new Error(`no restore of the line ${text} is simulated`);
  const position = place === undefined ? undefined : Number(place);
  const hasRule = TAKES_RULE.includes(operation) && !(operation === 'D' && position !== undefined);
  const rule = hasRule ? book.read(ruleText) : undefined;
  return { operation: operation as Step['operation'], chain, position, rule, line };
}

/** The words behind `iptables`. @throws ParameterProblem */
export function readCommand(words: readonly string[], book: RuleBook): Command {
  const rest = [...words];
  const ruleWords: string[] = [];
  let [operation, chain, table]: (string | undefined)[] = [];
  let [position, wait]: (number | undefined)[] = [];
  const number = (): number | undefined => (/^\d+$/.test(rest[0] ?? '') ? Number(rest.shift()) : undefined);
  for (let word = rest.shift(); word !== undefined; word = rest.shift())
    if (/^-[AIDCFXNS]$/.test(word) && operation === undefined) {
      operation = word[1];
      if (rest[0] !== undefined && !/^[-!]/.test(rest[0])) chain = rest.shift();
      position = number();
    } else if (word === '-t') table = rest.shift();
    else if (word === '-w') wait = number() ?? Infinity;
    else ruleWords.push(word);
  if (operation === undefined || (chain === undefined && !'FS'.includes(operation)))
    throw new Error(`no command ${words.join(' ')} is simulated`);
  const isByNumber = operation === 'D' && position !== undefined;
  const rule = TAKES_RULE.includes(operation) && !isByNumber ? book.readWords(ruleWords) : undefined;
  if (!rule && ruleWords.length > 0) throw new ParameterProblem(`unknown option "${ruleWords[0]}"`);
  const step = { operation: operation as Step['operation'], chain, position, rule };
  return { step, table: table ?? 'filter', wait };
}

/** @returns why the step cannot be taken */
export function takeStep(draft: TableDraft, step: Step): Obstacle | undefined {
  const { operation, chain = '', position, policy = '-', rule } = step;
  switch (operation) {
    case ':':
      if (isBuiltIn(draft.name, chain))
        return policy === '-' ? draft.touch(chain) : draft.setPolicy(chain, policy);
      return draft.has(chain) ? draft.flush(chain) : draft.make(chain);
    case 'N':
      return draft.make(chain);
    case 'A':
      return draft.append(chain, rule!);
    case 'I':
      return draft.insert(chain, rule!, (position ?? 1) - 1);
    case 'D': {
      if (!rule) return draft.removeAt(chain, position! - 1);
      if (!draft.has(chain)) return 'no chain';
      const at = draft.find(chain, rule);
      return at < 0 ? 'no rule' : draft.removeAt(chain, at);
    }
    case 'C':
      return draft.find(chain, rule!) < 0 ? 'no rule' : undefined;
    case 'F':
      for (const name of step.chain === undefined ? draft.allChains() : [chain]) {
        const obstacle = draft.flush(name);
        if (obstacle) return obstacle;
      }
      return undefined;
    case 'X':
      return draft.remove(chain);
    case 'S':
      return undefined;
  }
}

const MOST_CHAIN_BYTES = 28;

/**
 * What the tool itself has against a step, before it asks the kernel.
 * @throws ParameterProblem
 */
export function checkStep({ operation, chain = '', rule }: Step, table: string, variant: Variant): void {
  if (operation === 'N' || (operation === ':' && !isBuiltIn(table, chain))) checkChainName(chain, variant);
  if (!rule) return;
  if (table === 'nat' && rule.target === 'DROP')
    throw new ParameterProblem(
      '\nThe "nat" table is not intended for filtering, the use of DROP is therefore inhibited.\n\n',
    );
  // iptables-nft makes expressions of its own of what these match, and so notices itself what the kernel would reject.
  if (variant === 'nft')
    for (const name of ['tcp', 'udp'])
      if (rule.protocol !== name && new RegExp(`-m ${name} (?:! )?--`).test(rule.text))
        throw new ParameterProblem(`${name.toUpperCase()} match requires '-p ${name}'`);
}

function checkChainName(chain: string, variant: Variant): void {
  if (Buffer.byteLength(chain) > MOST_CHAIN_BYTES)
    throw new ParameterProblem(
      variant === 'legacy'
        ? `Invalid chain name \`${chain}' (${MOST_CHAIN_BYTES} chars max)`
        : `chain name \`${chain}' too long (must be under ${MOST_CHAIN_BYTES + 1} chars)`,
    );
  if (variant === 'nft' && (VERDICTS.has(chain) || TARGETS.has(chain)))
    throw new ParameterProblem('chain name may not clash with target name');
}

/**
 * That the chain that a rule leads to is there.
 * @returns a reason of the kernel, if it is one that packets reach by themselves
 * @throws ParameterProblem
 */
export function checkTarget(
  draft: TableDraft,
  { rule }: Step,
  variant: Variant,
): 'leads to a hook' | undefined {
  if (rule?.chain === undefined) return undefined;
  const { chain, isGoto } = rule;
  if (draft.has(chain)) return isBuiltIn(draft.name, chain) ? 'leads to a hook' : undefined;
  if (variant === 'nft') throw new ParameterProblem(`Chain '${chain}' does not exist`);
  throw new ParameterProblem(
    isGoto
      ? `goto '${chain}' is not a chain`
      : `Couldn't load target \`${chain}':No such file or directory\n`,
  );
}
