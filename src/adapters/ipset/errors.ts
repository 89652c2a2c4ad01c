/** The ipset tool could not be used at all, whatever the sets. Nothing was changed. */
export abstract class IpSetToolError extends Error {
  protected constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There is no such program to start. */
export class IpSetMissingError extends IpSetToolError {
  constructor(cause?: unknown) {
    super('cannot start ipset: install the package ipset (6.0 or later), or put it into PATH', { cause });
  }
}

/** The kernel refuses this process. */
export class IpSetPermissionError extends IpSetToolError {
  constructor(attempt: string, output: string) {
    super(
      `${attempt}: not permitted: root and CAP_NET_ADMIN are needed in this network namespace (${output})`,
    );
  }
}

/** Anything else: no sets in the kernel, the tool was killed, ran into its time limit, or failed to list. */
export class IpSetFailedError extends IpSetToolError {
  constructor(attempt: string, reason: string, options?: ErrorOptions) {
    super(`${attempt} failed: ${reason}`, options);
  }
}

/** One step was refused. */
export class IpSetRefusedError extends Error {
  constructor(
    readonly line: string,
    readonly reason: string,
  ) {
    super(`ipset refused "${line}": ${reason}`);
    this.name = 'IpSetRefusedError';
  }
}
