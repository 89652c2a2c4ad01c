import type { SavedTables } from '../../../../src/domain/iptables/text/saved-tables.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { Faults } from './faults.js';
import { ParameterProblem } from './rules/parameter-problem.js';
import { RuleBook } from './rules/rule-book.js';
import { IpSets } from './sets/ip-sets.js';
import type { KernelTraits } from './tables/kernel-check.js';
import { TableSet, type ProcessIdentity, type TableCommit, type Variant } from './tables/table-set.js';
import { Command } from './tools/command.js';
import { IpSetCommand } from './tools/ipset.js';
import { optionsOfRestore, optionsOfSave } from './tools/options.js';
import { Restore } from './tools/restore.js';
import { save } from './tools/save.js';
import { signature, ToolFailure, type IptablesRun, type Pause, type Steps } from './tools/tool.js';
import { XtablesLock } from './xtables-lock.js';

/** What the programs need to know of the machine that they run on. */
export interface ProgramsOptions {
  /** What plain `iptables` is; undefined where there is none of that name. */
  readonly standard?: Variant | undefined;
  /** iptables-nft has committed: nf_tables has a new generation, and tells its listeners who made it. */
  readonly touch?: (process: ProcessIdentity) => void;
  /** Loads kernel modules; which of them there are not. */
  readonly modprobe?: (names: readonly string[]) => readonly string[];
}

/** A program has ended. */
export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that has been started, and goes on when it is told to. */
export interface StartedProgram {
  readonly steps: Steps;
  /** What holds the lock on its behalf. */
  readonly holder: object;
  /** Takes what it has written since, and forgets it. */
  takeOutput(): string;
  readonly stderr: () => string;
  /** What becomes of what it holds, once it has ended or was killed. */
  end(): void;
}

const FAMILIES: readonly IpFamily[] = ['IPv4', 'IPv6'];
const IPTABLES = /^(ip6?tables)(?:-(legacy|nft))?(?:-(save|restore))?$/;
/** A process is known by the first letters of its name. */
const NAME_LENGTH = 15;

/**
 * The programs of one simulated machine, and what of its kernel only they reach: the tables of iptables-legacy and iptables-nft,
 * and IP sets. They outlast every process.
 */
export class Programs {
  readonly lock = new XtablesLock();
  readonly faults = new Faults();
  readonly traits: KernelTraits = {
    missingExtensions: new Set(),
    counters: new Set(),
    refusals: this.faults.refusals,
  };
  readonly sets = new IpSets(
    (name) => this.isSetUsed(name),
    (name) => this.setListeners.forEach((listener) => listener(name)),
  );
  private readonly tableSets = new Map<string, TableSet>();
  private readonly commitListeners = new Set<(commit: TableCommit) => void>();
  private readonly setListeners = new Set<(name: string) => void>();
  private readonly books = {
    IPv4: new RuleBook('IPv4', (name) => this.sets.get(name)?.family),
    IPv6: new RuleBook('IPv6', (name) => this.sets.get(name)?.family),
  };

  constructor(private readonly options: ProgramsOptions = {}) {
    for (const variant of ['legacy', 'nft'] as const)
      for (const family of FAMILIES)
        this.tableSets.set(
          `${variant} ${family}`,
          new TableSet(family, variant, (commit, effects) => this.committed(commit, effects)),
        );
  }

  /** What the kernel has; the same objects where nothing has changed. */
  tables(family: IpFamily, variant: Variant): SavedTables {
    return this.tableSet(family, variant).saved;
  }

  tableSet(family: IpFamily, variant: Variant): TableSet {
    return this.tableSets.get(`${variant} ${family}`)!;
  }

  /** Calls after each commit of any program. Returns what ends that. */
  onCommit(listener: (commit: TableCommit) => void): () => void {
    this.commitListeners.add(listener);
    return () => this.commitListeners.delete(listener);
  }

  /** Calls with the name of each set that has changed. Returns what ends that. */
  onSetChange(listener: (name: string) => void): () => void {
    this.setListeners.add(listener);
    return () => this.setListeners.delete(listener);
  }

  /** What /proc/net/ip_tables_names (or ip6_) holds; undefined where the kernel has no ip_tables, and no such file. */
  legacyTableNames(family: IpFamily): string | undefined {
    if (this.faults.unsupported.has('legacy')) return undefined;
    return this.tableSet(family, 'legacy')
      .names.map((name) => `${name}\n`)
      .join('');
  }

  /** The chains that iptables-nft has made in nf_tables, with their tables, in the order in which the kernel has them. */
  nftChains(family: IpFamily): readonly { readonly table: string; readonly chain: string }[] {
    const { names } = this.tableSet(family, 'nft');
    return names.flatMap((table) =>
      [...this.tableSet(family, 'nft').table(table)!.chains.keys()].map((chain) => ({ table, chain })),
    );
  }

  /** Whether there is a program of this name: a path is one, too. */
  has(file: string): boolean {
    const name = nameOf(file);
    if (this.faults.missing.has(name)) return false;
    const [, , variant] = IPTABLES.exec(name) ?? [];
    if (IPTABLES.test(name)) return variant !== undefined || this.options.standard !== undefined;
    return ['ipset', 'modprobe', 'unshare'].includes(name);
  }

  /** Starts a program, which does nothing before its steps are taken. There must be one of this name. */
  start(command: readonly string[], process: ProcessIdentity): StartedProgram {
    let output = '';
    let errors = '';
    const holder = {};
    const steps = this.guarded(command, process, holder, {
      print: (text) => void (output += text),
      complain: (text) => void (errors += text),
    });
    return {
      steps,
      holder,
      takeOutput() {
        const taken = output;
        output = '';
        return taken;
      },
      stderr: () => errors,
      end: () => this.lock.release(holder),
    };
  }

  /**
   * Runs a program to its end at once, as another process than the proxy's. It does not wait: a lock that is held stays held.
   * @param process who it is; a stranger, unless it says otherwise
   */
  run(command: readonly string[], input = '', process = stranger(command)): ProgramResult {
    if (!this.has(command[0]!))
      return { exitCode: 127, stdout: '', stderr: `${command[0]}: command not found\n` };
    const started = this.start(command, process);
    let left: string | undefined = input;
    let answer: string | boolean | undefined;
    for (;;) {
      const next = started.steps.next(answer);
      if (next.done) {
        started.end();
        return { exitCode: next.value, stdout: started.takeOutput(), stderr: started.stderr() };
      }
      answer = undefined;
      if (next.value.for === 'lock') answer = false;
      else if (next.value.for === 'input') {
        answer = left === '' ? undefined : left;
        left = undefined;
      }
    }
  }

  private *guarded(
    command: readonly string[],
    process: ProcessIdentity,
    holder: object,
    output: Pick<IptablesRun, 'print' | 'complain'>,
  ): Steps {
    const problem = this.faults.next(command);
    if (problem?.when === 'before') {
      output.complain(problem.stderr);
      return problem.exitCode;
    }
    try {
      const exitCode = yield* this.stepsOf(command, process, holder, output);
      if (!problem) return exitCode;
      output.complain(problem.stderr);
      return problem.exitCode;
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      output.complain(error.complaint);
      return error.exitCode;
    } finally {
      this.lock.release(holder);
    }
  }

  private stepsOf(
    command: readonly string[],
    process: ProcessIdentity,
    holder: object,
    output: Pick<IptablesRun, 'print' | 'complain'>,
  ): Steps {
    const [file = '', ...words] = command;
    const name = nameOf(file);
    if (name === 'ipset') {
      const refusal = (line: string): string | undefined => this.faults.refusedSetLine(line);
      return new IpSetCommand({ sets: this.sets, print: output.print, refusal }, words).main();
    }
    if (name === 'modprobe') return this.modprobe(words, output);
    if (name === 'unshare') return this.unshared(words, process, output);
    return this.iptables(name, words, { process, holder, ...output });
  }

  private *iptables(
    program: string,
    words: readonly string[],
    given: Pick<IptablesRun, 'process' | 'holder' | 'print' | 'complain'>,
  ): Steps {
    const [, base, named, action] = IPTABLES.exec(program)!;
    const family = base === 'iptables' ? 'IPv4' : 'IPv6';
    const variant = (named as Variant | undefined) ?? this.options.standard!;
    const run: IptablesRun = {
      ...given,
      program,
      family,
      variant,
      tables: this.tableSet(family, variant),
      otherTables: this.tableSet(family, variant === 'nft' ? 'legacy' : 'nft'),
      rules: this.books[family],
      traits: this.traits,
      lock: this.lock,
    };
    if (words.includes('--version') || words.includes('-V')) {
      given.print(`${signature(run)}\n`);
      return 0;
    }
    if (this.faults.unsupported.has(variant)) throw unsupported(run);
    if (action === 'save') return yield* save(run, optionsOfSave(words));
    const tool = action === 'restore' ? new Restore(run, optionsOfRestore(words)) : new Command(run);
    try {
      return yield* tool.main(words);
    } catch (error) {
      throw error instanceof ParameterProblem ? tool.complaint(error) : error;
    }
  }

  private *modprobe(words: readonly string[], { complain }: Pick<IptablesRun, 'complain'>): Steps {
    yield { for: 'work' } satisfies Pause;
    const names = words.filter((word) => !word.startsWith('-'));
    const absent = this.options.modprobe?.(names) ?? [];
    for (const name of absent)
      complain(`modprobe: FATAL: Module ${name} not found in directory /lib/modules.\n`);
    return absent.length > 0 ? 1 : 0;
  }

  /** `unshare --net PROGRAM`: in a network namespace of its own, of which nothing is left. */
  private *unshared(
    words: readonly string[],
    process: ProcessIdentity,
    { print, complain }: Pick<IptablesRun, 'print' | 'complain'>,
  ): Steps {
    const elsewhere = new Programs({ standard: this.options.standard });
    for (const variant of this.faults.unsupported) elsewhere.faults.unsupported.add(variant);
    for (const name of this.traits.missingExtensions) elsewhere.traits.missingExtensions.add(name);
    const started = elsewhere.start(words.slice(1), process);
    const exitCode = yield* started.steps;
    print(started.takeOutput());
    complain(started.stderr());
    return exitCode;
  }

  private committed(commit: TableCommit, effects: number): void {
    if (commit.variant === 'nft' && effects > 0) this.options.touch?.(commit.process);
    for (const listener of this.commitListeners) listener(commit);
  }

  private isSetUsed(name: string): boolean {
    return [...this.tableSets.values()].some((set) =>
      set.names.some((table) => set.table(table)!.setReferences.has(name)),
    );
  }
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

let strangers = 0;

function stranger([file = '']: readonly string[]): ProcessIdentity {
  return { pid: 500_000 + (strangers++ % 100_000), name: commandName(file) };
}

/** The name of a process, as the kernel cuts it. */
export function commandName(file: string): string {
  return nameOf(file).slice(0, NAME_LENGTH);
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
