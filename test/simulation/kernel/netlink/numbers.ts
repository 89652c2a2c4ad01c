/** Numbers of linux/netlink.h, and of errors, as the kernel has them. */

import { constants } from 'node:os';

export const {
  EPERM,
  ENOENT,
  ESRCH,
  EINTR,
  EAGAIN,
  ENOMEM,
  EBUSY,
  EEXIST,
  ENODEV,
  EINVAL,
  ERANGE,
  EOPNOTSUPP,
  EAFNOSUPPORT,
  EADDRNOTAVAIL,
  ENETUNREACH,
  EHOSTUNREACH,
  EACCES,
  ENOBUFS,
  EBADF,
  EMSGSIZE,
  ENOTCONN,
  ENOPROTOOPT,
  EPROTONOSUPPORT,
  ENFILE,
  E2BIG,
  EMLINK,
  ELOOP,
  EFBIG,
  ENODATA,
} = constants.errno;

export const AF_UNSPEC = 0;
export const AF_INET = 2;
export const AF_INET6 = 10;

/** Bytes of struct nlmsghdr. */
export const HEADER = 16;

export const NLMSG_ERROR = 2;
export const NLMSG_DONE = 3;
/** Messages of lower types are for netlink itself. */
export const NLMSG_MIN_TYPE = 0x10;

export const NLM_F_REQUEST = 0x1;
export const NLM_F_MULTI = 0x2;
export const NLM_F_ACK = 0x4;
/** The sender hears what its request changes, too. */
export const NLM_F_ECHO = 0x8;
export const NLM_F_DUMP_INTR = 0x10;
/** Something was left out of a dump, as asked for. */
export const NLM_F_DUMP_FILTERED = 0x20;
export const NLM_F_REPLACE = 0x100;
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;
export const NLM_F_APPEND = 0x800;
/** Of a request that deletes: only what nothing depends on. */
export const NLM_F_NONREC = 0x100;
export const NLM_F_DUMP = 0x300;
/** Of an error message. */
export const NLM_F_CAPPED = 0x100;
export const NLM_F_ACK_TLVS = 0x200;

export const NLA_F_NESTED = 0x8000;
export const NLA_TYPE_MASK = 0x3fff;

export const NLMSGERR_ATTR_MSG = 1;
export const NLMSGERR_ATTR_OFFS = 2;

/** Messages and attributes begin at multiples of four. */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}
