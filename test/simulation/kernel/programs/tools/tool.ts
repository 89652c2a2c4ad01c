import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import type { ParameterProblem } from '../rules/extensions.js';
import type { RuleBook } from '../rules/rule.js';
import type { KernelTraits } from '../tables/kernel-check.js';
import type { ProcessIdentity, TableSet, Variant } from '../tables/table-set.js';
import type { XtablesLock } from '../xtables-lock.js';

/** What a program waits for before it goes on. */
export type Pause =
  /** The next piece of its standard input: a text, or undefined at its end. */
  | { readonly for: 'input' }
  /** The kernel or the processor: some time. */
  | { readonly for: 'work' }
  /** The lock, for so many milliseconds at most: whether it was got. */
  | { readonly for: 'lock'; readonly lock: XtablesLock; readonly milliseconds: number };

/** A program as it runs, from pause to pause. It returns its exit status. */
export type Steps = Generator<Pause, number, string | boolean | undefined>;

/** What a program of the package iptables is given. */
export interface IptablesRun {
  /** Its name, without a folder. */
  readonly program: string;
  readonly family: IpFamily;
  readonly variant: Variant;
  readonly tables: TableSet;
  readonly rules: RuleBook;
  readonly traits: KernelTraits;
  readonly process: ProcessIdentity;
  readonly lock: XtablesLock;
  /** Whoever holds the lock on behalf of this run. */
  readonly holder: object;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

/** A program cannot go on. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';

  constructor(
    readonly exitCode: number,
    /** What it writes to stderr, with line feeds. */
    readonly complaint: string,
  ) {
    super(complaint);
  }
}

const VERSION = '1.8.9';

/** `iptables-restore v1.8.9 (legacy)`. Programs of iptables-legacy have one name, whatever they are called by. */
export function signature({ program, variant }: IptablesRun): string {
  return `${nameIn({ program, variant })} v${VERSION} (${variant === 'nft' ? 'nf_tables' : 'legacy'})`;
}

/** The name by which a program calls itself. */
export function nameIn({ program, variant }: Pick<IptablesRun, 'program' | 'variant'>): string {
  const isCommand = !/-(?:save|restore)$/.test(program);
  return variant === 'legacy' || isCommand ? program.replace(/-(?:legacy|nft)/, '') : program;
}

/** The failure of a tool that does not understand its input. @param line of a restore, from 1 */
export function misuse(run: IptablesRun, problem: ParameterProblem, line?: number): ToolFailure {
  const name = run.variant === 'legacy' ? nameIn(run) : run.program;
  const start = problem.isBare ? '' : `${signature(run)}: `;
  const place = line === undefined ? '' : `Error occurred at line: ${line}\n`;
  const hint = `Try \`${name} -h' or '${name} --help' for more information.\n`;
  return new ToolFailure(2, `${start}${problem.message}\n${place}${hint}`);
}

/** Waits for the lock as long as the options say, and fails with the words of the tools. */
export function* takeLock({ lock, holder }: IptablesRun, waitSeconds: number | undefined): Steps {
  if (lock.take(holder)) return 0;
  const isTaken =
    waitSeconds === undefined ? false : yield { for: 'lock', lock, milliseconds: waitSeconds * 1000 };
  if (isTaken === true) return 0;
  const end =
    waitSeconds === undefined
      ? 'Perhaps you want to use the -w option?'
      : `Stopped waiting after ${waitSeconds}s.`;
  throw new ToolFailure(4, `Another app is currently holding the xtables lock. ${end}\n`);
}
