import { NamedError } from '../../domain/model/named-error.js';
import { EINTR, errnoName } from './errno.js';

/** A netlink socket itself failed. */
export abstract class NetlinkError extends NamedError {}

/** Netlink cannot be used from this process at all. */
export class NetlinkUnavailableError extends NetlinkError {
  constructor(reason: string, options?: ErrorOptions) {
    super(`netlink is unavailable: ${reason}`, options);
  }
}

/** The kernel refuses this process. */
export class NetlinkPermissionError extends NetlinkError {
  constructor(attempt: string, elseNeeded = '') {
    super(
      `${attempt}: not permitted: CAP_NET_ADMIN is needed in the user namespace that owns this network namespace${elseNeeded}`,
    );
  }
}

/** A system call failed. */
export class NetlinkSystemError extends NetlinkError {
  /** The kernel's name of the error, such as `EMSGSIZE`. */
  readonly code: string;

  constructor(
    readonly call: string,
    readonly errno: number,
    advice = '',
  ) {
    super(`${call} on a netlink socket failed: ${errnoName(errno)}${advice === '' ? '' : ` (${advice})`}`);
    this.code = errnoName(errno);
  }
}

/** The kernel answered a request with an error. */
export class NetlinkRequestError extends NetlinkError {
  readonly code: string;

  constructor(
    readonly request: string,
    readonly errno: number,
    details = '',
  ) {
    super(`${request} was refused: ${errnoName(errno)}${details === '' ? '' : `: ${details}`}`);
    this.code = errnoName(errno);
  }
}

/** How often a list that changed while it was read is read again. */
export const LIST_ATTEMPTS = 5;

/** What was listed changed each time that it was read. */
export class NetlinkUnsteadyError extends NetlinkRequestError {
  constructor(request: string) {
    super(request, EINTR, `they changed during each of ${LIST_ATTEMPTS} attempts`);
  }
}

/** The data from the socket violates the protocol. */
export class NetlinkProtocolError extends NetlinkError {
  constructor(what: string) {
    super(`unexpected netlink reply: ${what}`);
  }
}

/** The channel has been closed by its owner. */
export class NetlinkClosedError extends NetlinkError {
  constructor() {
    super('the netlink socket was closed');
  }
}
