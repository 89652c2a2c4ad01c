import { constants } from 'node:os';

/** Numbers of linux/netlink.h, and of errors, as the kernel has them. */

export const E = constants.errno;
export const AF = { UNSPEC: 0, INET: 2, INET6: 10 } as const;
/** Bytes of struct nlmsghdr. */
export const HEADER = 16;
/** Types below the last one are for netlink itself. */
export const NLMSG = { ERROR: 2, DONE: 3, MIN_TYPE: 0x10 } as const;
/** Those of requests, of what is added, of what is deleted, and of errors. */
export const NLM_F = {
  ...{ REQUEST: 0x1, MULTI: 0x2, ACK: 0x4, ECHO: 0x8, DUMP_INTR: 0x10, DUMP_FILTERED: 0x20, DUMP: 0x300 },
  ...{ REPLACE: 0x100, EXCL: 0x200, CREATE: 0x400, APPEND: 0x800 },
  ...{ CAPPED: 0x100, ACK_TLVS: 0x200 },
} as const;
export const NLA = { F_NESTED: 0x8000, TYPE_MASK: 0x3fff } as const;
export const NLMSGERR_ATTR = { MSG: 1, OFFS: 2 } as const;

/** Messages and attributes begin at multiples of four. */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** Numbers from `first` on by the words of a text, of which `-` stands for a number that is not needed. */
export function numbered<Text extends string>(
  text: Text,
  first = 0,
): Readonly<Record<Exclude<Words<Text>, '-'>, number>> {
  return Object.fromEntries(text.split(' ').map((word, index) => [word, first + index])) as never;
}
