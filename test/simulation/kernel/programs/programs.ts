import type { SavedTables } from '../../../../src/domain/iptables/saved-tables.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { Faults } from './faults.js';
import { RuleBook } from './rules/rule.js';
import { IpSets } from './ip-sets.js';
import type { KernelTraits } from './tables/kernel-check.js';
import { TableSet, type ProcessIdentity, type TableCommit, type Variant } from './tables/table-set.js';
import { command as iptablesCommand, save } from './tools/command.js';
import { IpSetCommand } from './tools/ipset.js';
import { Restore, type RestoreOptions } from './tools/restore.js';
import { signature, ToolFailure, type IptablesRun, type Steps } from './tools/tool.js';
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

/** A restore, or a command of ipset, has ended: one run that was to write. */
export interface ProgramWrite {
  readonly program: 'iptables' | 'ip6tables' | 'ipset';
  readonly isTaken: boolean;
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

type Output = Pick<IptablesRun, 'print' | 'complain'>;

const FAMILIES: readonly IpFamily[] = ['IPv4', 'IPv6'];
const IPTABLES = /^(ip6?tables)(?:-(legacy|nft))?(?:-(save|restore))?$/;
/** Of iptables what a restore is called, and ipset when it restores; what only reads is not among them. */
const WRITING = /^(?:(ip6?tables)(?:-legacy|-nft)?-restore\b|(ipset) .*\brestore\b)(?!.* --test\b)/;
/** A process is known by the first letters of its name. */
const NAME_LENGTH = 15;
/** The numbers of processes that nobody has given one. */
const FIRST_STRANGER = 500_000;

/**
 * The programs of one simulated machine, and what of its kernel only they reach: the tables of iptables-legacy and iptables-nft,
 * and IP sets. They outlast every process.
 */
export class Programs {
  readonly lock = new XtablesLock();
  readonly faults = new Faults();
  readonly traits: KernelTraits = {
    missingExtensions: this.faults.missingExtensions,
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
  private readonly writeListeners: ((write: ProgramWrite) => void)[] = [];
  readonly books = {
    IPv4: new RuleBook('IPv4', (name) => this.sets.get(name)?.family),
    IPv6: new RuleBook('IPv6', (name) => this.sets.get(name)?.family),
  };

  readonly standard: Variant | undefined;

  private strangers = 0;

  constructor(private readonly options: ProgramsOptions = {}) {
    this.standard = options.standard;
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

  /** Calls when a run of a program that writes ends by itself, whatever became of it. */
  onWrite(listener: (write: ProgramWrite) => void): void {
    this.writeListeners.push(listener);
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
    const found = IPTABLES.exec(name);
    if (found) return found[2] !== undefined || this.standard !== undefined;
    return ['ipset', 'modprobe', 'unshare'].includes(name);
  }

  /** Starts a program, which does nothing before its steps are taken. There must be one of this name. */
  start(command: readonly string[], process: ProcessIdentity): StartedProgram {
    let output = '';
    let errors = '';
    const holder = {};
    const steps = this.stepsOf(command, process, holder, {
      print: (text) => void (output += text),
      complain: (text) => void (errors += text),
    });
    return {
      steps: this.told(command, steps),
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
  run(command: readonly string[], input = '', process = this.stranger(command)): ProgramResult {
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

  /** What a program does, or what it fails with. */
  private *stepsOf(
    command: readonly string[],
    process: ProcessIdentity,
    holder: object,
    output: Output,
  ): Steps {
    const problem = this.faults.next(command);
    try {
      const exitCode = problem?.when === 'before' ? 0 : yield* this.work(command, process, holder, output);
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

  private work(
    [file = '', ...words]: readonly string[],
    process: ProcessIdentity,
    holder: object,
    output: Output,
  ): Steps {
    const { sets, faults } = this;
    const name = nameOf(file);
    switch (name) {
      case 'ipset': {
        const refusal = (line: string): string | undefined => faults.refusedSetLine(line);
        return new IpSetCommand({ sets, print: output.print, refusal }, words).main();
      }
      case 'modprobe':
        return this.modprobe(words, output);
      // `unshare --net PROGRAM`: in a network namespace of its own, of which nothing is left.
      case 'unshare':
        return this.inNewNamespace().stepsOf(words.slice(1), process, {}, output);
      default:
        return this.iptables(name, words, { process, holder, ...output });
    }
  }

  private *iptables(
    program: string,
    words: readonly string[],
    given: Pick<IptablesRun, 'process' | 'holder' | 'print' | 'complain'>,
  ): Steps {
    const [, base, named, action] = IPTABLES.exec(program)!;
    const family = base === 'iptables' ? 'IPv4' : 'IPv6';
    const variant = (named as Variant | undefined) ?? this.standard!;
    const { traits, lock } = this;
    const [tables, rules] = [this.tableSet(family, variant), this.books[family]];
    const run: IptablesRun = { ...given, program, family, variant, tables, rules, traits, lock };
    if (words.includes('--version')) {
      given.print(`${signature(run)}\n`);
      return 0;
    }
    if (this.faults.unsupported.has(variant))
      throw new ToolFailure(
        variant === 'legacy' && action === undefined ? 3 : 1,
        variant === 'nft'
          ? `${program}: Failed to initialize nft: Protocol not supported\n`
          : `${signature(run)}: can't initialize iptables table \`nat': Table does not exist\n`,
      );
    if (action === 'save') return yield* save(run, valueOf(words, '-t'));
    if (action === 'restore') return yield* new Restore(run, optionsOfRestore(words)).main();
    return yield* iptablesCommand(run, words);
  }

  private *modprobe(words: readonly string[], { complain }: Output): Steps {
    yield { for: 'work' };
    const names = words.filter((word) => !word.startsWith('-'));
    const absent = this.options.modprobe?.(names) ?? [];
    for (const name of absent)
      complain(`modprobe: FATAL: Module ${name} not found in directory /lib/modules.\n`);
    return absent.length > 0 ? 1 : 0;
  }

  private inNewNamespace(): Programs {
    const elsewhere = new Programs({ standard: this.standard });
    for (const variant of this.faults.unsupported) elsewhere.faults.unsupported.add(variant);
    for (const name of this.traits.missingExtensions) elsewhere.traits.missingExtensions.add(name);
    return elsewhere;
  }

  private *told([file = '', ...words]: readonly string[], steps: Steps): Steps {
    const exitCode = yield* steps;
    const [, iptables, ipset] = WRITING.exec([nameOf(file), ...words].join(' ')) ?? [];
    const program = (iptables ?? ipset) as ProgramWrite['program'] | undefined;
    const isTaken = exitCode === 0;
    if (program) for (const listener of this.writeListeners) listener({ program, isTaken });
    return exitCode;
  }

  private stranger([file = '']: readonly string[]): ProcessIdentity {
    return { pid: FIRST_STRANGER + this.strangers++, name: commandName(file) };
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

/** A file's name, without its folder. */
function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** The name of a process, as the kernel cuts it. */
export function commandName(file: string): string {
  return nameOf(file).slice(0, NAME_LENGTH);
}

function optionsOfRestore(words: readonly string[]): RestoreOptions {
  const seconds = valueOf(words, '-w');
  return {
    keeps: words.includes('--noflush'),
    onlyTests: words.includes('--test'),
    wait: words.includes('-w') ? (/^\d+$/.test(seconds ?? '') ? Number(seconds) : Infinity) : undefined,
    table: valueOf(words, '-T'),
  };
}

function valueOf(words: readonly string[], name: string): string | undefined {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words[at + 1];
}
