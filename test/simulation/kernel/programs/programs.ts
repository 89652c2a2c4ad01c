import type { SavedTables } from '../../../../src/domain/iptables/saved-tables.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { Faults } from './faults.js';
import { hasProgram, nameOf, programSteps, type ProgramGround } from './program-steps.js';
import { RuleBook } from './rules/rule.js';
import { IpSets } from './ip-sets.js';
import type { KernelTraits } from './tables/kernel-check.js';
import { TableSet, type ProcessIdentity, type TableCommit, type Variant } from './tables/table-set.js';
import type { Steps } from './tools/tool.js';
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

const FAMILIES: readonly IpFamily[] = ['IPv4', 'IPv6'];
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
export class Programs implements ProgramGround {
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
    return hasProgram(file, this);
  }

  /** Starts a program, which does nothing before its steps are taken. There must be one of this name. */
  start(command: readonly string[], process: ProcessIdentity): StartedProgram {
    let output = '';
    let errors = '';
    const holder = {};
    const steps = programSteps(this, command, process, holder, {
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

  modprobe(names: readonly string[]): readonly string[] {
    return this.options.modprobe?.(names) ?? [];
  }

  inNewNamespace(): Programs {
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

/** The name of a process, as the kernel cuts it. */
export function commandName(file: string): string {
  return nameOf(file).slice(0, NAME_LENGTH);
}
