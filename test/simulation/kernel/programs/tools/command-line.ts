import { ParameterProblem } from '../rules/parameter-problem.js';

/** What a command line, or a line of a restore, asks for. */
export interface CommandLine {
  readonly operation: Operation | undefined;
  readonly chain: string | undefined;
  /** From 1. */
  readonly position: number | undefined;
  /** A policy, or the new name of a chain. */
  readonly name: string | undefined;
  readonly table: string;
  /** Seconds to wait for the lock: Infinity, if it did not say how many. */
  readonly wait: number | undefined;
  readonly packets: number;
  readonly bytes: number;
  readonly isNumeric: boolean;
  readonly isVerbose: boolean;
  readonly hasLineNumbers: boolean;
  /** Everything else: a rule. */
  readonly ruleWords: readonly string[];
}

export type Operation = 'A' | 'I' | 'D' | 'R' | 'C' | 'F' | 'X' | 'N' | 'P' | 'E' | 'Z' | 'S' | 'L' | 'V';

const OPERATIONS: Readonly<Record<string, Operation>> = {
  '-A': 'A',
  '--append': 'A',
  '-I': 'I',
  '--insert': 'I',
  '-D': 'D',
  '--delete': 'D',
  '-R': 'R',
  '--replace': 'R',
  '-C': 'C',
  '--check': 'C',
  '-F': 'F',
  '--flush': 'F',
  '-X': 'X',
  '--delete-chain': 'X',
  '-N': 'N',
  '--new-chain': 'N',
  '-P': 'P',
  '--policy': 'P',
  '-E': 'E',
  '--rename-chain': 'E',
  '-Z': 'Z',
  '--zero': 'Z',
  '-S': 'S',
  '--list-rules': 'S',
  '-L': 'L',
  '--list': 'L',
  '-V': 'V',
  '--version': 'V',
};
const NEEDS_CHAIN = 'AIDRCNPE';
const TAKES_POSITION = 'IDRSL';
const TAKES_NAME = 'PE';
const isNumber = (word: string | undefined): boolean => word !== undefined && /^\d+$/.test(word);

function positionIn(word: string): number {
  if (!isNumber(word)) throw new ParameterProblem(`Invalid rule number \`${word}'`);
  return Number(word);
}

/** @throws ParameterProblem */
export function readCommandLine(words: readonly string[]): CommandLine {
  const rest = [...words];
  const line = {
    operation: undefined as Operation | undefined,
    chain: undefined as string | undefined,
    position: undefined as number | undefined,
    name: undefined as string | undefined,
    table: 'filter',
    wait: undefined as number | undefined,
    packets: 0,
    bytes: 0,
    isNumeric: false,
    isVerbose: false,
    hasLineNumbers: false,
  };
  const ruleWords: string[] = [];
  const isValue = (word: string | undefined): word is string =>
    word !== undefined && !word.startsWith('-') && word !== '!';
  const value = (option: string): string => {
    const word = rest.shift();
    if (word === undefined) throw new ParameterProblem(`option "${option}" requires an argument`);
    return word;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const operation = OPERATIONS[word];
    if (operation) {
      if (line.operation) throw new ParameterProblem(`Cannot use -${operation} with -${line.operation}`);
      line.operation = operation;
      if (NEEDS_CHAIN.includes(operation)) line.chain = value(word);
      else if (operation !== 'V' && isValue(rest[0])) line.chain = rest.shift();
      if (TAKES_POSITION.includes(operation) && isValue(rest[0])) line.position = positionIn(rest.shift()!);
      if (TAKES_NAME.includes(operation)) line.name = value(word);
      continue;
    }
    switch (word) {
      case '-t':
      case '--table':
        line.table = value(word);
        break;
      case '-w':
      case '--wait':
        line.wait = isNumber(rest[0]) ? Number(rest.shift()) : Infinity;
        break;
      case '-W':
      case '--wait-interval':
        value(word);
        break;
      case '-c':
      case '--set-counters':
        line.packets = Number(value(word));
        line.bytes = Number(value(word));
        break;
      case '-n':
      case '--numeric':
        line.isNumeric = true;
        break;
      case '-v':
      case '--verbose':
        line.isVerbose = true;
        break;
      case '--line-numbers':
        line.hasLineNumbers = true;
        break;
      case '-x':
      case '-4':
      case '-6':
        break;
      default:
        ruleWords.push(word);
    }
  }
  if (line.operation === undefined && ruleWords.length === 0)
    throw new ParameterProblem('no command specified');
  return { ...line, ruleWords };
}
