/** The iptables tools could not be used, whatever the rules. What was committed before stands, as when a run is killed. */
export abstract class IptablesToolError extends Error {
  protected constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There is no such program to start. */
export class IptablesMissingError extends IptablesToolError {
  constructor(command: string, cause?: unknown) {
    super(`cannot start ${command}: install the package iptables (1.8 or later), or put it into PATH`, {
      cause,
    });
  }
}

/** The kernel, or the lock file, refuses this process. */
export class IptablesPermissionError extends IptablesToolError {
  constructor(attempt: string, output: string) {
    super(`${attempt}: not permitted: run as root with CAP_NET_ADMIN in this network namespace (${output})`);
  }
}

/** Another program held the xtables lock all the time that we waited. */
export class XtablesLockedError extends IptablesToolError {
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
export class XtablesLockFileError extends IptablesToolError {
  constructor(attempt: string, lockFile: string, output: string) {
    super(
      `${attempt}: the xtables lock ${lockFile} cannot be opened: mount the host's there, writable (${output})`,
    );
  }
}

/** The kernel lacks what this variant of the tools writes to, or some of its tables. */
export class IptablesKernelError extends IptablesToolError {
  constructor(attempt: string, output: string) {
    super(
      `${attempt}: this kernel does not support this variant of iptables: load its modules (ip_tables, iptable_nat; nf_tables, ` +
        `nft_compat), or use the other variant (${output})`,
    );
  }
}

/** The kernel could not take it at that moment, whatever it was: no memory, busy, interrupted. */
export class IptablesTemporaryError extends IptablesToolError {
  constructor(attempt: string, output: string) {
    super(`${attempt} cannot be done now: ${output}`);
  }
}

/** Anything else: a tool was killed, ran into its time limit, or failed to list. */
export class IptablesFailedError extends IptablesToolError {
  constructor(attempt: string, reason: string, options?: ErrorOptions) {
    super(`${attempt} failed: ${reason}`, options);
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
export class RestoreRefusedError extends Error {
  constructor(
    readonly attempt: string,
    readonly failures: readonly RestoreFailure[],
    /** Matches and targets that the tool says this kernel lacks: `statistic`. */
    readonly lacking: readonly string[] = [],
  ) {
    const missing = lacking.length > 0 ? ` (this kernel lacks ${lacking.join(', ')})` : '';
    super(`${attempt} was refused: ${describe(failures)}${missing}`);
    this.name = 'RestoreRefusedError';
  }
}

function describe(failures: readonly RestoreFailure[]): string {
  const shown = failures
    .slice(0, 3)
    .map(({ line, reason }) => (line === undefined ? reason : `line ${line}: ${reason}`));
  return (
    shown.join('; ') + (failures.length > 3 ? `; and ${failures.length - 3} more` : '') || 'no reason given'
  );
}
