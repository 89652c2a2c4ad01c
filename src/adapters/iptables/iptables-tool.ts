import { open, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { errorMessage } from '../../application/error-message.js';
import { SaveReader, type SavedTables } from '../../domain/iptables/saved-tables.js';
import type { TableName } from '../../domain/iptables/table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { reportsTemporary } from '../netlink/errors.js';
import type { CommitListener } from '../nftables/netlink/commit-listener.js';
import { cLibraryIfAny, type CLibrary } from '../process/c-library.js';
import {
  ToolFailedError,
  ToolKilledError,
  ToolMissingError,
  ToolPermissionError,
  type ToolError,
  ToolPrograms,
  type ToolOutcome,
  type ToolStreams,
} from '../tool-programs.js';
import {
  IptablesTemporaryError,
  XtablesLockedError,
  type IptablesCommands,
  type IptablesVariant,
  type RestoreOutcome,
} from './iptables-commands.js';
import {
  KERNEL_MATCHES,
  readLacking,
  knownFailure,
  RESOURCE_PROBLEM,
  restoreFailure,
} from './restore-failures.js';
import {
  chooseVariant,
  PACKAGE,
  program,
  type IptablesChoice,
  type ProgramRunner,
  rulesOfOtherVariant,
  nftTablesWithRules,
  legacyTables,
} from './variants.js';

export interface IptablesToolOptions {
  /** Unset: the one that the node uses. */
  readonly variant?: IptablesVariant;
  /** The prefix of every command: `['ip', 'netns', 'exec', 'NAME']`. */
  readonly launcher?: readonly string[];
  readonly lock?: XtablesLock;
  /** A run that takes longer is killed; at most the commits before are in the kernel then. */
  readonly timeoutMilliseconds?: number;
  /** Hears what iptables-nft commits, for the generations of a restore. Throws if it cannot. */
  readonly listen?: (() => Pick<CommitListener, 'generationsOf' | 'close'>) | undefined;
}

/** The tools of this host, and their features. */
export interface IptablesIdentity extends IptablesChoice {
  /** MASQUERADE supports --random-fully (1.6.2 and later). */
  readonly randomFully: boolean;
}

/** With which the loader ends where a program lacks a library, and a launcher that finds no program. */
const NOT_RUNNABLE = 127;

/** How long a tool that lists waits for the lock, and we before a restore. */
const WAIT_SECONDS = 5;

/** Larger commits take nf_tables longer to build, smaller ones have it check all rules of a large table more often. */
const NFT_CHAINS_PER_COMMIT = 1_000;

/** Starts the programs of iptables, and reports why they cannot start. */
export class IptablesTool implements IptablesCommands {
  readonly lock: XtablesLock;
  private readonly launcher: readonly string[];
  private readonly programs: ToolPrograms;
  private identity: Promise<IptablesIdentity> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private readonly runner: ProgramRunner = {
    output: async (name, parameters, isThere = false) => {
      const command = [name, ...parameters];
      const outcome = await this.runIfPresent(command, { stdout: 'all' });
      if (!outcome || outcome.exitCode === 0) return outcome?.stdout;
      const failure = this.failure(command, outcome.stderr, outcome.exitCode);
      // A temporarily unknown fact must not decide permanently.
      const mayDecide = outcome.exitCode === NOT_RUNNABLE || !isThere;
      if (!mayDecide || failure instanceof ToolPermissionError || isMomentary(failure)) throw failure;
      return undefined;
    },
    complaint: async (name, parameters, input) => {
      const outcome = await this.runIfPresent([name, ...parameters], { input: [input] });
      return outcome?.exitCode === 0 ? undefined : outcome?.stderr;
    },
    // A launcher may lead into another network namespace.
    legacyTables: (family) => (this.launcher.length > 0 ? undefined : legacyTables(family)),
  };

  constructor(private readonly options: IptablesToolOptions = {}) {
    this.lock = options.lock ?? new XtablesLock();
    this.launcher = options.launcher ?? [];
    this.programs = new ToolPrograms({
      from: PACKAGE,
      launcher: this.launcher,
      timeoutMilliseconds: options.timeoutMilliseconds ?? 300_000,
      environment: { XTABLES_LOCKFILE: this.lock.path },
    });
  }

  /**
   * Which tools these are. Found out once; again after a failure, for a package may be installed meanwhile.
   * @throws ToolMissingError when the host has none
   */
  async identify(): Promise<IptablesIdentity> {
    this.identity ??= this.choose();
    try {
      return await this.identity;
    } catch (error) {
      this.identity = undefined;
      throw error;
    }
  }

  /**
   * Whether the family can be used: its tools are there, and its kernel takes rules. The reason when not. What may only keep the tools
   * from their work at the moment, such as the lock, a signal, or an error that is not known, is none: that would leave the family
   * without rules for good, while a sync that fails is shown, and tried again.
   */
  async problem(family: IpFamily): Promise<string | undefined> {
    try {
      const { variant } = await this.identify();
      // To list one chain, iptables-legacy reads the whole table.
      if (variant === 'legacy' && this.runner.legacyTables(family)?.includes('nat')) return undefined;
      // Tables that can be used have this chain: where the tool finds none, it failed for an unknown reason.
      await this.listChain(family, 'nat', 'POSTROUTING');
      return undefined;
    } catch (error) {
      return isMomentary(error) || error instanceof ToolFailedError ? undefined : errorMessage(error);
    }
  }

  /** Which of the mode's matches the kernel lacks, as far as the tool reports. It is tried with rules that are not written. */
  async lackingMatches(family: IpFamily): Promise<readonly string[]> {
    const { prefix, version } = await this.identify();
    const wait = waiting(version, WAIT_SECONDS);
    const command = [program(prefix, family, 'restore'), ...wait, '--noflush', '--test'];
    const rules = Object.values(KERNEL_MATCHES).map(({ trial }) => `-A KUBE-TRIAL ${trial}\n`);
    const input = ['*filter\n', ':KUBE-TRIAL - [0:0]\n', ...rules, 'COMMIT\n'].values();
    const { stderr } = await this.programs.run(command, { input });
    return readLacking(stderr);
  }

  /** Which rules there are of the other variant, for people. */
  async rulesOfOtherVariant(): Promise<readonly string[]> {
    const { variant } = await this.identify();
    return rulesOfOtherVariant(variant, { ...this.runner, nftTables: nftTablesWithRules });
  }

  async chainsPerCommit(): Promise<number> {
    return (await this.identify()).variant === 'nft' ? NFT_CHAINS_PER_COMMIT : Infinity;
  }

  async save(family: IpFamily, signal?: AbortSignal): Promise<SavedTables> {
    const { prefix } = await this.identify();
    const command = [program(prefix, family, 'save')];
    const reader = new SaveReader(family);
    const stdout = (piece: string) => reader.read(piece);
    const { exitCode, stderr } = await this.programs.run(command, { stdout }, signal);
    if (reader.incompatible !== undefined) throw new ToolFailedError(command.join(' '), reader.incompatible);
    if (exitCode !== 0) throw this.failure(command, stderr, exitCode);
    return reader.finish();
  }

  /** One after another: the families share the lock, and nf_tables restarts a transaction when another comes first. */
  restore(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome> {
    const turn = this.last.then(() => this.restoreNow(family, input));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  async listChain(family: IpFamily, table: TableName, chain: string): Promise<readonly string[] | undefined> {
    const { prefix } = await this.identify();
    const command = [program(prefix, family), '-w', String(WAIT_SECONDS), '-t', table, '-S', chain];
    const { exitCode, stdout, stderr } = await this.programs.run(command, { stdout: 'all' });
    if (exitCode === 0) return stdout.split('\n').flatMap((line) => rulesIn(line, chain));
    const failure = this.failure(command, stderr, exitCode);
    if (exitCode === 1 && failure instanceof ToolFailedError) return undefined;
    throw failure;
  }

  close(): void {
    this.programs.close();
  }

  private async runIfPresent(
    command: readonly string[],
    streams: ToolStreams,
  ): Promise<ToolOutcome | undefined> {
    try {
      return await this.programs.run(command, streams);
    } catch (error) {
      if (error instanceof ToolMissingError) return undefined;
      throw error;
    }
  }

  private async restoreNow(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome> {
    const { prefix, variant, version } = await this.identify();
    // With a limit, iptables-legacy-restore sets an alarm, and then takes input that it has to wait for as ended.
    const command = [program(prefix, family, 'restore'), ...waiting(version), '--noflush', '--counters'];
    const lockWaitSeconds = variant === 'nft' ? 0 : await this.waitForLock(command);
    const { exitCode, stderr, generations } = await this.heard(variant, command, input);
    if (exitCode === 0) return { lockWaitSeconds, generations };
    const attempt = command.join(' ');
    const lock = { path: this.lock.path, waitedSeconds: lockWaitSeconds ?? 0 };
    throw restoreFailure(attempt, exitCode, stderr, lock);
  }

  private async heard(variant: IptablesVariant, command: readonly string[], input: Iterable<string>) {
    const listener = variant === 'nft' ? this.listenIfPossible() : undefined;
    try {
      const outcome = await this.programs.run(command, { input });
      const { pid } = outcome;
      return { ...outcome, generations: pid === undefined ? undefined : listener?.generationsOf(pid) };
    } finally {
      listener?.close();
    }
  }

  /** Without it, what a restore did is compared like what another program did. */
  private listenIfPossible(): ReturnType<NonNullable<IptablesToolOptions['listen']>> | undefined {
    try {
      return this.options.listen?.();
    } catch {
      return undefined;
    }
  }

  private async choose(): Promise<IptablesIdentity> {
    const choice = await chooseVariant(this.runner, this.options.variant);
    if (!choice)
      throw new ToolMissingError(
        this.options.variant ? `iptables-${this.options.variant}` : 'iptables-nft, iptables-legacy, iptables',
        PACKAGE,
      );
    return { ...choice, randomFully: reaches(choice.version, '1.6.2') };
  }

  private failure(command: readonly string[], stderr: string, exitCode: number): ToolError {
    const attempt = command.join(' ');
    const lock = { path: this.lock.path, waitedSeconds: WAIT_SECONDS };
    const message = stderr.trim() || `exit status ${exitCode}`;
    const known = knownFailure(attempt, stderr, lock);
    if (known) return known;
    const isMomentary = exitCode === RESOURCE_PROBLEM || reportsTemporary(stderr);
    return isMomentary ? new IptablesTemporaryError(attempt, message) : new ToolFailedError(attempt, message);
  }

  private async waitForLock(command: readonly string[]): Promise<number | undefined> {
    const turn = await this.lock.waitUntilFree(WAIT_SECONDS, this.programs.closed);
    if (turn?.free === false) throw new XtablesLockedError(command.join(' '), turn.seconds, this.lock.path);
    return turn?.seconds;
  }
}

/** Whether a tool may succeed in the next moment. */
function isMomentary(error: unknown): boolean {
  return [XtablesLockedError, IptablesTemporaryError, ToolKilledError].some((kind) => error instanceof kind);
}

function rulesIn(line: string, chain: string): readonly string[] {
  const start = `-A ${chain}`;
  if (line === start) return [''];
  return line.startsWith(`${start} `) ? [line.slice(start.length + 1)] : [];
}

/** The options by which a restore waits for the lock (docs/internals/spec/iptables.md §2.1). */
function waiting(version: string, seconds?: number): readonly string[] {
  if (!reaches(version, '1.6.2')) return [];
  return seconds === undefined ? ['-w'] : ['-w', String(seconds)];
}

/** Whether a version is at least another. */
function reaches(version: string, least: string): boolean {
  const [one, other] = [version, least].map((text) => text.split('.').map(Number)) as [number[], number[]];
  for (let place = 0; place < other.length; place++) {
    const difference = (one[place] ?? 0) - other[place]!;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

const LOCK_EXCLUSIVE_NOW = 2 | 4;
const UNLOCK = 8;
const EAGAIN = 11;

/** Between tries, in milliseconds: the first, twice as long each time, up to the longest. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 50;

/**
 * The lock file that iptables-legacy takes for each run, so that programs do not overwrite each other's tables.
 *
 * The tools take it themselves, but do not report how long they waited. So we wait for our turn before we start
 * one: take the lock as soon as it is free, release it immediately, and have the tool take it. Another program may be faster
 * in between; then the tool waits (`-w`), unmeasured.
 */
export class XtablesLock {
  /**
   * @param path by default the tools' path: XTABLES_LOCKFILE, or /run/xtables.lock
   * @param pause waits between tries, for so many milliseconds
   */
  constructor(
    readonly path: string = process.env.XTABLES_LOCKFILE ?? '/run/xtables.lock',
    private readonly calls: Pick<CLibrary, 'flock' | 'errno'> | undefined = cLibraryIfAny(),
    private readonly pause = (milliseconds: number, signal?: AbortSignal): Promise<unknown> =>
      setTimeout(milliseconds, undefined, { signal }),
  ) {}

  /**
   * Waits until the lock is free, for `limitSeconds` at most.
   * @returns whether it was free at last, and how long that took; undefined where locks cannot be tried
   */
  async waitUntilFree(
    limitSeconds: number,
    signal?: AbortSignal,
  ): Promise<{ readonly free: boolean; readonly seconds: number } | undefined> {
    if (!this.calls) return undefined;
    const file = await open(this.path, 'a+', 0o600).catch(() => undefined);
    if (!file) return undefined;
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    try {
      for (let tries = 1; ; tries++) {
        if (this.calls.flock(file.fd, LOCK_EXCLUSIVE_NOW) === 0) {
          this.calls.flock(file.fd, UNLOCK);
          return { free: true, seconds: tries === 1 ? 0 : seconds() };
        }
        if (this.calls.errno() !== EAGAIN) return undefined;
        if (seconds() >= limitSeconds) return { free: false, seconds: seconds() };
        await this.pause(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1)), signal);
      }
    } finally {
      await file.close();
    }
  }

  /**
   * Why the lock cannot be taken, or is not the one that the host's other programs take; undefined when it seems right. In
   * a container whose lock file lies in the container's own file system, each program locks a file of its own.
   */
  async problem(mountInfo = '/proc/self/mountinfo'): Promise<string | undefined> {
    try {
      await (await open(this.path, 'a+', 0o600)).close();
    } catch (error) {
      return `${this.path} cannot be opened, so iptables-legacy cannot write: mount the host's lock file, writable (${(error as Error).message})`;
    }
    const mounts = await readFile(mountInfo, 'utf8').catch(() => '');
    const type = fileSystemOf(this.path, mounts);
    if (type !== 'overlay') return undefined;
    return `${this.path} is the container's own file: mount the host's lock file, or rules that other programs write at the same time may be lost`;
  }
}

/** The file system type of the mount that covers a path (proc_pid_mountinfo(5)). */
function fileSystemOf(path: string, mounts: string): string | undefined {
  let longest = '';
  let type: string | undefined;
  for (const line of mounts.split('\n')) {
    const [before, after] = line.split(' - ');
    const point = before?.split(' ')[4];
    if (point === undefined || after === undefined || point.length < longest.length) continue;
    if (path !== point && !path.startsWith(point.endsWith('/') ? point : `${point}/`)) continue;
    longest = point;
    type = after.split(' ')[0];
  }
  return type;
}
