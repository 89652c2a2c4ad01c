import { constants } from 'node:os';

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
