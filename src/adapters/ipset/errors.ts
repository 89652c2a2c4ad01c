/** The tool ipset is unusable, whatever the sets. Nothing was changed. */
export abstract class IpSetToolError extends Error {
  protected constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The program cannot be started. */
export class IpSetMissingError extends IpSetToolError {
  constructor(cause?: unknown) {
    super('cannot start ipset: install the package ipset (6.0 or later), or add it to PATH', { cause });
  }
}

/** The kernel does not permit this process to change sets. */
export class IpSetPermissionError extends IpSetToolError {
  constructor(attempt: string, output: string) {
    super(
      `${attempt} is not permitted: run as root with CAP_NET_ADMIN in this network namespace (${output})`,
    );
  }
}

/** The kernel has no IP sets, so none can be left. */
export class IpSetUnsupportedError extends IpSetToolError {
  constructor(attempt: string, said: string) {
    super(`${attempt} failed: the kernel has no IP sets (module ip_set): ${said}`);
  }
}

/** The tool was killed, ran into its time limit, or failed in another way. */
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
