import type { IpSets } from '../sets/ip-sets.js';
import { memberText, MemberProblem, newSet, UnknownArgument } from '../sets/members.js';
import { ToolFailure, type Steps } from './tool.js';

const VERSION = 'v7.17';
const MOST_NAME = 31;
const NO_SET = 'The set with the given name does not exist';

/** What the program `ipset` is given. */
export interface IpSetRun {
  readonly sets: IpSets;
  readonly print: (text: string) => void;
  /** Why the kernel rejects what a line asks for, whatever it is. */
  readonly refusal: (line: string) => string | undefined;
}

/** A member that is sent together with those of the next lines, as long as these are about the same set. */
interface Waiting {
  readonly line: number;
  readonly set: string;
  readonly apply: () => string | undefined;
}

/** `ipset`: one command, or those of a restore. */
export class IpSetCommand {
  private readonly isForgiving: boolean;
  private readonly words: readonly string[];
  private waiting: Waiting[] = [];

  constructor(
    private readonly run: IpSetRun,
    words: readonly string[],
  ) {
    this.isForgiving = words.some((word) => word === '-exist' || word === '-!');
    this.words = words.filter((word) => word !== '-exist' && word !== '-!');
  }

  *main(): Steps {
    const [command] = this.words;
    if (command === '--version' || command === 'version' || command === '-v') {
      this.run.print(`ipset ${VERSION}, protocol version: 7\n`);
      return 0;
    }
    if (command === 'restore') return yield* this.restore();
    yield { for: 'work' };
    this.take(this.words, 0);
    this.send();
    return 0;
  }

  private *restore(): Steps {
    let rest = '';
    let line = 0;
    for (;;) {
      const piece = (yield { for: 'input' }) as string | undefined;
      const lines = (rest + (piece ?? '')).split('\n');
      rest = piece === undefined ? '' : lines.pop()!;
      yield { for: 'work' };
      for (const text of lines) {
        line++;
        const words = text.split(' ').filter((word) => word !== '');
        if (words.length > 0 && !text.startsWith('#')) this.take(words, line);
      }
      if (piece === undefined) break;
    }
    this.send();
    return 0;
  }

  /** @param line of a restore, from 1; 0 on the command line */
  private take(words: readonly string[], line: number): void {
    const [command = '', name] = words;
    try {
      if (command === 'add' || command === 'del') this.takeMember(command, name ?? '', words[2] ?? '', line);
      else this.takeCommand(words, line);
    } catch (error) {
      if (error instanceof MemberProblem) throw failure(error.hasNoPlace ? 0 : line, error.message);
      if (error instanceof UnknownArgument) throw misuse(`Unknown argument: \`${error.message}'`);
      throw error;
    }
  }

  private takeMember(command: 'add' | 'del', name: string, text: string, line: number): void {
    const { sets, refusal } = this.run;
    const set = sets.get(name);
    if (!set) throw failure(line, NO_SET);
    const member = memberText(text, set.type, set.family);
    if (this.waiting.length > 0 && this.waiting[0]!.set !== name) this.send();
    const change =
      command === 'add'
        ? () => sets.add(name, member, this.isForgiving)
        : () => sets.remove(name, member, this.isForgiving);
    this.waiting.push({ line, set: name, apply: () => refusal(`${command} ${name} ${member}`) ?? change() });
  }

  /** Sends what waits; what comes before the first that is refused has been done. */
  private send(): void {
    for (const { line, apply } of this.waiting.splice(0)) {
      const problem = apply();
      if (problem !== undefined) throw failure(line, problem);
    }
  }

  private takeCommand(words: readonly string[], line: number): void {
    const [command = '', name, third, ...rest] = words;
    const { sets, refusal } = this.run;
    const act = (change: () => string | undefined): void => {
      this.send();
      const problem = refusal(words.join(' ')) ?? change();
      if (problem !== undefined) throw failure(line, problem);
    };
    switch (command) {
      case 'create':
      case '-N': {
        if (Buffer.byteLength(name!) > MOST_NAME)
          throw new MemberProblem(`Syntax error: setname '${name}' is longer than ${MOST_NAME} characters`);
        const set = newSet(name!, third ?? '', rest);
        return act(() => sets.create(name!, set, this.isForgiving));
      }
      case 'destroy':
      case 'x':
        return act(() => (name === undefined ? sets.destroyAll() : sets.destroy(name, this.isForgiving)));
      case 'flush':
        if (name === undefined) return act(() => (sets.names.forEach((each) => sets.flush(each)), undefined));
        return act(() => sets.flush(name));
      case 'save':
      case 'list':
        return this.show(words, line);
      case '':
        throw misuse('No command specified.');
      default:
        throw misuse(`No command specified: unknown argument ${command}`);
    }
  }

  private show([command, ...words]: readonly string[], line: number): void {
    const { sets, print } = this.run;
    const [only] = words.filter((word) => !word.startsWith('-'));
    if (only !== undefined && !sets.get(only)) throw failure(line, NO_SET);
    for (const name of only === undefined ? sets.names : [only]) {
      const { type, options, added, members } = sets.get(name)!;
      if (words.includes('-n')) print(`${name}\n`);
      else if (command === 'save')
        print(
          `create ${name} ${type} ${options}${added}\n${[...members].map((member) => `add ${name} ${member}\n`).join('')}`,
        );
      else {
        const listed = words.includes('-t')
          ? ''
          : `Members:\n${[...members].map((member) => `${member}\n`).join('')}`;
        print(
          `Name: ${name}\nType: ${type}\nHeader: ${options}${added}\nNumber of entries: ${members.size}\n${listed}`,
        );
      }
    }
  }
}

function failure(line: number, problem: string): ToolFailure {
  const place = line === 0 ? '' : `Error in line ${line}: `;
  return new ToolFailure(1, `ipset ${VERSION}: ${place}${problem}\n`);
}

function misuse(problem: string): ToolFailure {
  return new ToolFailure(2, `ipset ${VERSION}: ${problem}\nTry \`ipset help' for more information.\n`);
}
