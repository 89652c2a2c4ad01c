import { ParameterProblem } from '../rules/parameter-problem.js';
import type { Rule } from '../rules/rule.js';
import { wordsOf } from '../rules/words.js';
import { isBuiltIn } from '../tables/table.js';
import { readCommandLine } from './command-line.js';
import { checkChainName, checkStep } from './perform.js';
import type { PlacedStep } from './placed-step.js';
import { nameIn, signature, ToolFailure, type IptablesRun } from './tool.js';

/** What nearly all lines are; a rule begins with `-` or `!`. */
const COMMAND = /^(?:\[(\d+):(\d+)\] )?-([AID]) (\S+)(?: (\d+))?(?: ([-!].*))?$/;
const nothing = { operation: undefined, position: undefined, name: undefined, rules: [] as readonly Rule[] };

/**
 * What a line of a restore asks for: neither a table nor a COMMIT.
 * @throws ParameterProblem, ToolFailure
 */
export function readStep(text: string, line: number, table: string, run: IptablesRun): PlacedStep {
  if (text.startsWith(':')) return readChain(text, line, table, run);
  const step = readQuickly(text, line, run) ?? readSlowly(text, line, run);
  checkStep(step, table, run.variant);
  return step;
}

/** `:CHAIN POLICY [PACKETS:BYTES]` */
function readChain(text: string, line: number, table: string, run: IptablesRun): PlacedStep {
  const [chain = '', policy, counted] = text.slice(1).split(/[ \t]+/);
  const { variant } = run;
  if (!policy) throw new ParameterProblem(`${nameIn(run)}: line ${line} policy invalid`);
  if (!isBuiltIn(table, chain)) {
    checkChainName(chain, variant);
    if (variant === 'legacy' && policy !== '-')
      throw new ToolFailure(
        1,
        `${signature(run)}: Can't set policy \`${policy}' on \`${chain}' line ${line}: Bad built-in chain name\n`,
      );
    return { ...nothing, chain, line, declares: true };
  }
  const [, packets, bytes] = /^\[(\d+):(\d+)\]/.exec(counted ?? '') ?? [];
  const counters = [Number(packets ?? 0), Number(bytes ?? 0)] as const;
  if (policy !== '-') checkPolicy(chain, policy, line, run);
  return { ...nothing, chain, name: policy, counters, line, declares: true };
}

function checkPolicy(chain: string, policy: string, line: number, run: IptablesRun): void {
  if (policy === 'ACCEPT' || policy === 'DROP' || run.variant === 'nft') return;
  const problem = `Can't set policy \`${policy}' on \`${chain}' line ${line}: Bad policy name`;
  throw new ToolFailure(1, `${signature(run)}: ${problem}\n`);
}

function readQuickly(text: string, line: number, { rules: book }: IptablesRun): PlacedStep | undefined {
  const [, packets, bytes, operation, chain, place, ruleText = ''] = COMMAND.exec(text) ?? [];
  if (!operation || (place !== undefined && operation === 'A')) return undefined;
  const position = place === undefined ? undefined : Number(place);
  const read = operation === 'D' && position !== undefined ? [] : book.read(ruleText);
  const isCounted = packets !== undefined && packets !== '0';
  const rules = isCounted ? counted(read, Number(packets), Number(bytes)) : read;
  return {
    operation: operation as 'A' | 'I' | 'D',
    chain,
    position,
    name: undefined,
    rules,
    line,
    declares: false,
  };
}

function readSlowly(text: string, line: number, { rules: book }: IptablesRun): PlacedStep {
  if (text.startsWith('[') && !/^\[\d+:\d+\]/.test(text))
    throw new ParameterProblem(`Bad line ${line}: need ]`);
  const command = readCommandLine(wordsOf(text.replace(/^\[\d+:\d+\] */, '')));
  const { operation, position, ruleWords } = command;
  const hasRule =
    operation !== undefined && 'AIDRC'.includes(operation) && !(operation === 'D' && position !== undefined);
  const rules = hasRule || ruleWords.length > 0 ? book.readWords(ruleWords) : [];
  return { ...command, rules, line, declares: false };
}

function counted(rules: readonly Rule[], packets: number, bytes: number): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, packets, bytes }));
}
