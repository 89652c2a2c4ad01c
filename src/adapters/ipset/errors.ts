import { NamedError } from '../../domain/model/named-error.js';
import { ToolError } from '../tool-programs.js';

/** The kernel has no IP sets, so none can be left. */
export class IpSetUnsupportedError extends ToolError {
  constructor(attempt: string, said: string) {
    super(`${attempt} failed: the kernel has no IP sets (module ip_set): ${said}`);
  }
}

/** One step was refused. */
export class IpSetRefusedError extends NamedError {
  constructor(
    readonly line: string,
    readonly reason: string,
  ) {
    super(`ipset refused "${line}": ${reason}`);
  }
}
