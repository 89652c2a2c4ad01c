import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import type { Faults } from './faults.js';
import type { RuleBook } from './rules/rule.js';
import type { IpSets } from './ip-sets.js';
import type { KernelTraits } from './tables/kernel-check.js';
import type { ProcessIdentity, TableSet, Variant } from './tables/table-set.js';
import { command, save } from './tools/command.js';
import { IpSetCommand } from './tools/ipset.js';
import { Restore, type RestoreOptions } from './tools/restore.js';
import { signature, ToolFailure, type IptablesRun, type Steps } from './tools/tool.js';
import type { XtablesLock } from './xtables-lock.js';

/** What programs find on their machine. */
export interface ProgramGround {
  readonly standard: Variant | undefined;
  readonly faults: Faults;
  readonly traits: KernelTraits;
  readonly sets: IpSets;
  readonly lock: XtablesLock;
  readonly books: Readonly<Record<IpFamily, RuleBook>>;
  tableSet(family: IpFamily, variant: Variant): TableSet;
  /** Loads kernel modules. @returns those that there are not */
  modprobe(names: readonly string[]): readonly string[];
  /** The same machine, but with nothing in its tables yet. */
  inNewNamespace(): ProgramGround;
}

type Output = Pick<IptablesRun, 'print' | 'complain'>;

const IPTABLES = /^(ip6?tables)(?:-(legacy|nft))?(?:-(save|restore))?$/;

/** A file's name, without its folder. */
export function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** Whether there is a program of this name: a path is one, too. */
export function hasProgram(file: string, { standard, faults }: ProgramGround): boolean {
  const name = nameOf(file);
  if (faults.missing.has(name)) return false;
  const found = IPTABLES.exec(name);
  if (found) return found[2] !== undefined || standard !== undefined;
  return ['ipset', 'modprobe', 'unshare'].includes(name);
}

/** What a program does, or what it fails with. */
export function* programSteps(
  ground: ProgramGround,
  command: readonly string[],
  process: ProcessIdentity,
  holder: object,
  output: Output,
): Steps {
  const problem = ground.faults.next(command);
  if (problem?.when === 'before') {
    output.complain(problem.stderr);
    return problem.exitCode;
  }
  try {
    const exitCode = yield* stepsOf(ground, command, process, holder, output);
    if (!problem) return exitCode;
    output.complain(problem.stderr);
    return problem.exitCode;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    output.complain(error.complaint);
    return error.exitCode;
  } finally {
    ground.lock.release(holder);
  }
}

function stepsOf(
  ground: ProgramGround,
  command: readonly string[],
  process: ProcessIdentity,
  holder: object,
  output: Output,
): Steps {
  const [file = '', ...words] = command;
  const name = nameOf(file);
  if (name === 'ipset') {
    const refusal = (line: string): string | undefined => ground.faults.refusedSetLine(line);
    return new IpSetCommand({ sets: ground.sets, print: output.print, refusal }, words).main();
  }
  if (name === 'modprobe') return modprobe(ground, words, output);
  if (name === 'unshare') return unshared(ground, words, process, output);
  return iptables(ground, name, words, { process, holder, ...output });
}

function* iptables(
  ground: ProgramGround,
  program: string,
  words: readonly string[],
  given: Pick<IptablesRun, 'process' | 'holder' | 'print' | 'complain'>,
): Steps {
  const [, base, named, action] = IPTABLES.exec(program)!;
  const family = base === 'iptables' ? 'IPv4' : 'IPv6';
  const variant = (named as Variant | undefined) ?? ground.standard!;
  const run: IptablesRun = {
    ...given,
    program,
    family,
    variant,
    tables: ground.tableSet(family, variant),
    rules: ground.books[family],
    traits: ground.traits,
    lock: ground.lock,
  };
  if (words.includes('--version') || words.includes('-V')) {
    given.print(`${signature(run)}\n`);
    return 0;
  }
  if (ground.faults.unsupported.has(variant)) throw unsupported(run);
  if (action === 'save') return yield* save(run, valueOf(words, '-t', '--table'));
  if (action === 'restore') return yield* new Restore(run, optionsOfRestore(words)).main();
  return yield* command(run, words);
}

function* modprobe(
  ground: ProgramGround,
  words: readonly string[],
  { complain }: Pick<IptablesRun, 'complain'>,
): Steps {
  yield { for: 'work' };
  const names = words.filter((word) => !word.startsWith('-'));
  const absent = ground.modprobe(names);
  for (const name of absent)
    complain(`modprobe: FATAL: Module ${name} not found in directory /lib/modules.\n`);
  return absent.length > 0 ? 1 : 0;
}

/** `unshare --net PROGRAM`: in a network namespace of its own, of which nothing is left. */
function* unshared(
  ground: ProgramGround,
  words: readonly string[],
  process: ProcessIdentity,
  output: Output,
): Steps {
  return yield* programSteps(ground.inNewNamespace(), words.slice(1), process, {}, output);
}

function unsupported(run: IptablesRun): ToolFailure {
  if (run.variant === 'nft')
    return new ToolFailure(1, `${run.program}/1.8.9 Failed to initialize nft: Protocol not supported\n`);
  const isCommand = run.program.endsWith('tables') || run.program.endsWith('-legacy');
  if (isCommand)
    return new ToolFailure(
      3,
      `${signature(run)}: can't initialize iptables table \`nat': Table does not exist (do you need to insmod?)\n`,
    );
  return new ToolFailure(2, `${signature(run)}: iptables-restore: unable to initialize table 'nat'\n`);
}

function optionsOfRestore(words: readonly string[]): RestoreOptions {
  const wait = words.findIndex((word) => word === '-w' || word === '--wait');
  return {
    keeps: words.includes('--noflush') || words.includes('-n'),
    onlyTests: words.includes('--test') || words.includes('-t'),
    wait: wait < 0 ? undefined : secondsIn(words[wait + 1]),
    table: valueOf(words, '-T', '--table'),
  };
}

function secondsIn(word: string | undefined): number {
  return word !== undefined && /^\d+$/.test(word) ? Number(word) : Infinity;
}

function valueOf(words: readonly string[], ...names: readonly string[]): string | undefined {
  const at = words.findIndex((word) => names.includes(word));
  return at < 0 ? undefined : words[at + 1];
}
