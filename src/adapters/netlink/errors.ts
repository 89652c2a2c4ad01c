/** Errors of netlink, and the kernel's error numbers. */

import { constants } from 'node:os';
import { NamedError } from '../../domain/model/named-error.js';

/** A netlink socket itself failed. */
export abstract class NetlinkError extends NamedError {}

/** Netlink cannot be used from this process at all. */
export class NetlinkUnavailableError extends NetlinkError {
  constructor(reason: string, options?: ErrorOptions) {
    super(`netlink is unavailable: ${reason}`, options);
  }
}

/** The kernel rejects this process. */
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
    super(`${request} was rejected: ${errnoName(errno)}${details === '' ? '' : `: ${details}`}`);
    this.code = errnoName(errno);
  }
}

/** How often a list that changed while it was read is read again. */
export const LIST_ATTEMPTS = 5;

/** The listed objects changed during each attempt to read them. */
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

const NAMES = new Map<number, string>();
for (const [name, number] of Object.entries(constants.errno)) if (!NAMES.has(number)) NAMES.set(number, name);
NAMES.set(constants.errno.EAGAIN, 'EAGAIN');
NAMES.set(constants.errno.EOPNOTSUPP, 'EOPNOTSUPP');
// The kernel's internal numbers, which C programs usually do not see.
NAMES.set(85, 'ERESTART').set(117, 'EUCLEAN').set(61, 'ENODATA').set(49, 'EUNATCH');

/** The kernel's name of an error number (positive), such as `EEXIST`. */
export function errnoName(errno: number): string {
  return NAMES.get(errno) ?? `errno ${errno}`;
}

/** Errors of the moment or of this process: they say nothing about the content of what was refused. */
const TEMPORARY = ['ENOMEM', 'ENOBUFS', 'EAGAIN', 'EINTR', 'EBUSY', 'ERESTART', 'EPERM', 'EACCES'];

/** Their texts in the C libraries of GNU and musl, by which tools report them. */
const TEMPORARY_TEXT =
  /(?:Cannot allocate|Out of|out of) memory|No buffer space available|Resource temporarily unavailable|Interrupted system call|(?:Device or r|R)esource busy|Operation not permitted|Permission denied/;

/** @param reason begins with the kernel's name of an error: `EBUSY`, or `EBUSY: why` */
export function isTemporary(reason: string): boolean {
  return TEMPORARY.includes(reason.split(':', 1)[0]!);
}

/** Whether a tool complains about an error of the moment. */
export function reportsTemporary(messages: string): boolean {
  return TEMPORARY_TEXT.test(messages);
}

export const {
  EPERM,
  ENOENT,
  ESRCH,
  EINTR,
  EAGAIN,
  EBUSY,
  EEXIST,
  ENODEV,
  EINVAL,
  EMSGSIZE,
  EPROTONOSUPPORT,
  EOPNOTSUPP,
  EADDRNOTAVAIL,
  ENOBUFS,
  EACCES,
  ENETUNREACH,
  EHOSTUNREACH,
} = constants.errno;
