import { ParameterProblem } from '../rules/extension.js';

/** What a command line, or a line of a restore, asks for. */
export interface CommandLine {
  readonly operation: Operation | undefined;
  readonly chain: string | undefined;
  /** From 1. */
  readonly position: number | undefined;
  /** Of `-P` the policy. */
  readonly name: string | undefined;
  readonly table: string;
  /** Seconds to wait for the lock: Infinity, if it did not say how many. */
  readonly wait: number | undefined;
  /** Everything else: a rule. */
  readonly ruleWords: readonly string[];
}

/** As the letter of its option: append, insert, delete, check, flush, delete a chain, new chain, policy, list. */
export type Operation = 'A' | 'I' | 'D' | 'C' | 'F' | 'X' | 'N' | 'P' | 'S';

const OPERATION = /^-([AIDCFXNPS])$/;
const [NEEDS_CHAIN, TAKES_POSITION] = ['AIDCNP', 'IDS'];
const isNumber = (word: string | undefined): boolean => word !== undefined && /^\d+$/.test(word);

/** @throws ParameterProblem */
export function readCommandLine(words: readonly string[]): CommandLine {
  const rest = [...words];
  let operation: Operation | undefined;
  let [chain, name, table]: (string | undefined)[] = [];
  let [position, wait]: (number | undefined)[] = [];
  const ruleWords: string[] = [];
  const isValue = (word: string | undefined): boolean => word !== undefined && !/^[-!]/.test(word);
  const value = (option: string): string => {
    const word = rest.shift();
    if (word === undefined) throw new ParameterProblem(`option "${option}" requires an argument`);
    return word;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const found = OPERATION.exec(word)?.[1] as Operation | undefined;
    if (found) {
      if (operation) throw new ParameterProblem(`Cannot use -${found} with -${operation}`);
      operation = found;
      if (NEEDS_CHAIN.includes(found)) chain = value(word);
      else if (isValue(rest[0])) chain = rest.shift();
      if (TAKES_POSITION.includes(found) && isValue(rest[0])) {
        const number = value(word);
        if (!isNumber(number)) throw new ParameterProblem(`Invalid rule number \`${number}'`);
        position = Number(number);
      }
      if (found === 'P') name = value(word);
    } else if (word === '-t' || word === '--table') table = value(word);
    else if (word === '-w' || word === '--wait') wait = isNumber(rest[0]) ? Number(rest.shift()) : Infinity;
    else ruleWords.push(word);
  }
  if (operation === undefined) throw new ParameterProblem('no command specified');
  return { operation, chain, position, name, table: table ?? 'filter', wait, ruleWords };
}
