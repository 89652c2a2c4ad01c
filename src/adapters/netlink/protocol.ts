/** Numbers and encodings that every netlink family shares (linux/netlink.h, bits/socket.h). */

import ipaddr from 'ipaddr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { NetlinkProtocolError } from './errors.js';

export const NETLINK_ROUTE = 0;
export const NETLINK_NETFILTER = 12;
export const NETLINK_GENERIC = 16;

/** Bytes of struct nlmsghdr. */
export const HEADER_LENGTH = 16;

export const NLMSG_ERROR = 2;
export const NLMSG_DONE = 3;

export const NLM_F_REQUEST = 0x001;

/** The kernel acknowledges the request even if it succeeds. */
export const NLM_F_ACK = 0x004;

/** The kernel sends the notifications that the request causes to the sender, too. */
export const NLM_F_ECHO = 0x008;

/** In a reply: the dump was disturbed by a change and is not consistent. */
export const NLM_F_DUMP_INTR = 0x010;
export const NLM_F_DUMP = 0x300;
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;
export const NLM_F_APPEND = 0x800;

/** In an error reply: the offending message is not repeated after its header. */
export const NLM_F_CAPPED = 0x100;

/** In an error reply: attributes with the details follow. */
export const NLM_F_ACK_TLVS = 0x200;

export const NLA_F_NESTED = 0x8000;

/** The bits of an attribute's type field that hold the type. */
export const NLA_TYPE_MASK = 0x3fff;

/** Attributes of an error reply. */
export const NLMSGERR_ATTR_MSG = 1;
export const NLMSGERR_ATTR_OFFS = 2;

/** AF_INET or AF_INET6. As a word it is struct nfgenmsg, with version 0 and resource id 0. */
export function familyNumber(family: IpFamily): number {
  return family === 'IPv4' ? 2 : 10;
}

/** Rounds up: messages and attributes begin at multiples of four. */
export function align(length: number): number {
  return (length + 3) & ~3;
}

/** The four or sixteen bytes of an address in canonical text. */
export function addressBytes(text: string): Uint8Array {
  if (text.includes(':')) return Uint8Array.from(ipaddr.IPv6.parse(text).toByteArray());
  return Uint8Array.from(text.split('.'), Number);
}

/** Canonical text of the four or sixteen bytes between two positions. */
export function addressText(bytes: Buffer, start: number, end: number): string {
  if (end - start === 4) return `${bytes[start]}.${bytes[start + 1]}.${bytes[start + 2]}.${bytes[start + 3]}`;
  if (end - start !== 16) throw new NetlinkProtocolError(`an address of ${end - start} bytes`);
  return new ipaddr.IPv6([...bytes.subarray(start, end)]).toRFC5952String();
}
