/** The port to iptables: its commands, and the errors that they report. */

import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type { TableName } from '../../domain/iptables/table.js';
import { NamedError } from '../../domain/model/named-error.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { firstReasons, ToolError } from '../tool-programs.js';

/** Which of the kernel's two filters the tools speak to. */
export type IptablesVariant = 'nft' | 'legacy';

/** How a restore went. */
export interface RestoreOutcome {
  /** How long another program held the xtables lock before we had it; undefined when that could not be measured. */
  readonly lockWaitSeconds: number | undefined;
  /** With iptables-nft, the generations of nf_tables that it made, as far as the kernel reports them. */
  readonly generations?: readonly number[] | undefined;
}

/**
 * iptables as the driver needs it: the tools of the host, or tables in memory. It is independent of services. One call at a time
 * for each family.
 */
export interface IptablesCommands {
  /**
   * How many chains one commit should hold at most. iptables-nft needs time that grows with their square; iptables-legacy
   * replaces the whole table with each commit, so it should be one.
   */
  chainsPerCommit(): Promise<number>;

  /** `iptables-save`: all tables. Rejects with the signal's reason soon after it is aborted. */
  save(family: IpFamily, signal?: AbortSignal): Promise<SavedTables>;

  /**
   * `iptables-restore --noflush`: each commit in the input is applied as a whole or not at all.
   * Rejects with RestoreRejectedError when a commit was refused, and those before it stand; with an ToolError
   * when the tool could not be used.
   */
  restore(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome>;

  /** `iptables -S CHAIN`: the rules of a chain as the tool prints them, or undefined when there is no such chain. */
  listChain(family: IpFamily, table: TableName, chain: string): Promise<readonly string[] | undefined>;

  /** Ends what runs; later calls fail. Idempotent. */
  close(): void;
}

/** Another program held the xtables lock all the time that we waited. */
export class XtablesLockedError extends ToolError {
  constructor(
    attempt: string,
    readonly waitedSeconds: number,
    lockFile: string,
  ) {
    super(
      `${attempt}: another program has held the xtables lock ${lockFile} for more than ${waitedSeconds.toFixed(1)} s; ` +
        'find it with: fuser -v ' +
        lockFile,
    );
  }
}

/** The lock file cannot be opened, so no rule can be written. */
export class XtablesLockFileError extends ToolError {
  constructor(attempt: string, lockFile: string, output: string) {
    super(
      `${attempt}: the xtables lock ${lockFile} cannot be opened: mount the host's there, writable (${output})`,
    );
  }
}

/** The kernel lacks what this variant of the tools writes to, or some of its tables. */
export class IptablesKernelError extends ToolError {
  constructor(attempt: string, output: string) {
    super(
      `${attempt}: this kernel does not support this variant of iptables: load its modules (ip_tables, iptable_nat; nf_tables, ` +
        `nft_compat), or use the other variant (${output})`,
    );
  }
}

/** A temporary failure, independent of the content: no memory, busy, interrupted. */
export class IptablesTemporaryError extends ToolError {
  constructor(attempt: string, output: string) {
    super(`${attempt} cannot be done now: ${output}`);
  }
}

/** One thing that was refused in a restore. */
export interface RestoreFailure {
  /** Line of the input, from 1. Undefined when the tool does not say. */
  readonly line?: number;
  readonly reason: string;
  /** The match or target that this host's kernel or tools lack: `statistic`. */
  readonly missing?: string;
}

/**
 * A restore was refused. Commits before the failing one are in the kernel; the failing one and those after it are not.
 */
export class RestoreRejectedError extends NamedError {
  constructor(
    readonly attempt: string,
    readonly failures: readonly RestoreFailure[],
    /** Matches and targets that this kernel lacks, according to the tool: `statistic`. */
    readonly lacking: readonly string[] = [],
  ) {
    const missing = lacking.length > 0 ? ` (this kernel lacks ${lacking.join(', ')})` : '';
    const reasons = failures.map(({ line, reason }) =>
      line === undefined ? reason : `line ${line}: ${reason}`,
    );
    super(`${attempt} was rejected: ${firstReasons(reasons)}${missing}`);
  }
}
