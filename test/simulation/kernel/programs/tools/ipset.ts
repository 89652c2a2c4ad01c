import { memberText, newSet, SetSyntaxError, type IpSets } from '../ip-sets.js';
import { ToolFailure, type Steps } from './tool.js';

const VERSION = 'v7.17';
const NO_SET = 'The set with the given name does not exist';

/** What the program `ipset` is given. */
export interface IpSetRun {
  readonly sets: IpSets;
  readonly print: (text: string) => void;
  /** Why the kernel rejects what a line asks for, whatever it is. */
  readonly refusal: (line: string) => string | undefined;
}

/** `ipset`: one command, or those of a restore. */
export class IpSetCommand {
  private readonly isForgiving: boolean;
  private readonly words: readonly string[];
  /** Members are sent together with those of the next lines, as long as these are about the same set. */
  private waiting: {
    readonly line: number;
    readonly set: string;
    readonly apply: () => string | undefined;
  }[] = [];

  constructor(
    private readonly run: IpSetRun,
    words: readonly string[],
  ) {
    this.isForgiving = words.includes('-exist');
    this.words = words.filter((word) => word !== '-exist');
  }

  *main(): Steps {
    const [command] = this.words;
    if (command === '--version') {
      this.run.print(`ipset ${VERSION}, protocol version: 7\n`);
      return 0;
    }
    if (command === 'restore') yield* this.restore();
    else {
      yield { for: 'work' };
      this.take(this.words, 0);
    }
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
        if (words.length > 0) this.take(words, line);
      }
      if (piece === undefined) return 0;
    }
  }

  /** @param line of a restore, from 1; 0 on the command line */
  private take(words: readonly string[], line: number): void {
    const [command, name = '', third = '', ...rest] = words;
    const { sets, refusal, print } = this.run;
    const act = (change: () => string | undefined): void => {
      this.send();
      const problem = refusal(words.join(' ')) ?? change();
      if (problem !== undefined) throw failure(line, problem);
    };
    try {
      switch (command) {
        case 'add':
        case 'del':
          return this.takeMember(command, name, third, line);
        case 'create': {
          const set = newSet(third, rest);
          return act(() => sets.create(name, set, this.isForgiving));
        }
        case 'destroy':
          return act(() => (name === '' ? sets.destroyAll() : sets.destroy(name, this.isForgiving)));
        case 'flush':
          return act(() => sets.flush(name));
        case 'save':
          for (const each of sets.names) print(saved(each, sets));
          return;
        default:
          throw new Error(`no command ipset ${words.join(' ')} is simulated`);
      }
    } catch (error) {
      throw error instanceof SetSyntaxError ? failure(line, error.message) : error;
    }
  }

  private takeMember(command: 'add' | 'del', name: string, text: string, line: number): void {
    const { sets, refusal } = this.run;
    const set = sets.get(name);
    if (!set) throw failure(line, NO_SET);
    const member = memberText(text, set);
    if (this.waiting[0] && this.waiting[0].set !== name) this.send();
    const change = () => sets[command === 'add' ? 'add' : 'remove'](name, member, this.isForgiving);
    this.waiting.push({ line, set: name, apply: () => refusal(`${command} ${name} ${member}`) ?? change() });
  }

  /** Sends what waits; what comes before the first that is rejected has been done. */
  private send(): void {
    for (const { line, apply } of this.waiting.splice(0)) {
      const problem = apply();
      if (problem !== undefined) throw failure(line, problem);
    }
  }
}

function saved(name: string, sets: IpSets): string {
  const { type, options, members } = sets.get(name)!;
  const added = [...members].map((member) => `add ${name} ${member}\n`);
  return `create ${name} ${type} ${options}\n${added.join('')}`;
}

function failure(line: number, problem: string): ToolFailure {
  const place = line === 0 ? '' : `Error in line ${line}: `;
  return new ToolFailure(1, `ipset ${VERSION}: ${place}${problem}\n`);
}
