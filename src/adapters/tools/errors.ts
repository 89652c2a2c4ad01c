import { NamedError } from '../../domain/model/named-error.js';

/** A tool could not be used, whatever it was to write. What it wrote before stands, as when a run is killed. */
export abstract class ToolError extends NamedError {}

/** There is no such program to start. */
export class ToolMissingError extends ToolError {
  /** @param from the package that brings it, and how old it may be */
  constructor(program: string, from: string, cause?: unknown) {
    super(`cannot start ${program}: install the package ${from}, or add it to PATH`, { cause });
  }
}

/** The kernel, or a file, refuses this process. */
export class ToolPermissionError extends ToolError {
  constructor(attempt: string, output: string) {
    super(`${attempt}: not permitted: run as root with CAP_NET_ADMIN in this network namespace (${output})`);
  }
}

/** Anything else: a tool failed to list, or is closed. */
export class ToolFailedError extends ToolError {
  constructor(attempt: string, reason: string, options?: ErrorOptions) {
    super(`${attempt} failed: ${reason}`, options);
  }
}

/** A tool was killed, or ran into its time limit: what it would have said is unknown. */
export class ToolKilledError extends ToolFailedError {}
