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
