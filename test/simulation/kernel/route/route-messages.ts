import { addressBytes, familyOf } from '../netlink/addresses.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { AF_INET } from '../netlink/numbers.js';
import type { DeviceAddress, Link } from './link.js';
import type { FoundRoute } from './routes.js';
import {
  ARPHRD,
  IFA,
  IFA_F,
  IFF,
  IFLA,
  IFLA_INFO_KIND,
  NDA_DST,
  OPERSTATE,
  ROUTE_TYPE,
  RTA,
  RTPROT,
  TABLE,
} from './rtnetlink.js';

/** Flags of routes: made for the question, and of this machine (RTCF_LOCAL). */
const CLONED = 0x200;
const LOCAL_ROUTE = 0x8000_0000;

/** struct ifinfomsg and what follows it. */
export function putLink(builder: MessageBuilder, link: Link, change = 0): void {
  const isLoopback = (link.flags & IFF.LOOPBACK) !== 0;
  const header = Buffer.alloc(16);
  header.writeUInt16LE(isLoopback ? ARPHRD.LOOPBACK : ARPHRD.ETHER, 2);
  header.writeInt32LE(link.index, 4);
  header.writeUInt32LE(link.flags, 8);
  header.writeUInt32LE(change >>> 0, 12);
  builder
    .raw(header)
    .text(IFLA.IFNAME, link.name)
    .u8(IFLA.OPERSTATE, operstateOf(link))
    .u32(IFLA.MTU, link.mtu);
  builder.attribute(IFLA.ADDRESS, link.hardwareAddress);
  builder.attribute(IFLA.BROADCAST, Buffer.alloc(6, isLoopback ? 0 : 0xff));
  if (link.kind !== '') builder.nest(IFLA.LINKINFO, () => builder.text(IFLA_INFO_KIND, link.kind), 0);
}

function operstateOf({ flags, kind }: Link): number {
  if ((flags & IFF.UP) === 0) return OPERSTATE.DOWN;
  return (flags & IFF.LOOPBACK) !== 0 || kind === 'dummy' ? OPERSTATE.UNKNOWN : OPERSTATE.UP;
}

/** An address of IPv6 waits until its device is up, unless nobody else can have it there. */
export function flagsOf({ device, address }: DeviceAddress): number {
  const isSettled =
    familyOf(address) === AF_INET || (device.flags & (IFF.UP | IFF.NOARP | IFF.LOOPBACK)) !== 0;
  return isSettled ? IFA_F.PERMANENT : IFA_F.PERMANENT | IFA_F.TENTATIVE;
}

/** struct ifaddrmsg and what follows it. */
export function putAddress(builder: MessageBuilder, item: DeviceAddress, flags = flagsOf(item)): void {
  const { device, address, prefixLength, peer, scope } = item;
  const isIPv4 = familyOf(address) === AF_INET;
  const header = Buffer.alloc(8);
  header.writeUInt8(familyOf(address), 0);
  header.writeUInt8(prefixLength, 1);
  header.writeUInt8(flags, 2);
  header.writeUInt8(scope, 3);
  header.writeUInt32LE(device.index, 4);
  builder.raw(header);
  if (isIPv4) {
    builder.attribute(IFA.ADDRESS, addressBytes(peer)).attribute(IFA.LOCAL, addressBytes(address));
    builder.text(IFA.LABEL, device.name);
  } else {
    if (peer !== address) builder.attribute(IFA.LOCAL, addressBytes(address));
    builder.attribute(IFA.ADDRESS, addressBytes(peer));
  }
  builder.u32(IFA.FLAGS, flags);
}

/** struct rtmsg and what follows it, as the answer to a question for one address. */
export function putRoute(builder: MessageBuilder, address: string, route: FoundRoute): void {
  const { type, device, source, gateway } = route;
  const isLocal = type === 'local';
  const isIPv4 = familyOf(address) === AF_INET;
  // The table that the kernel tells for IPv4 is always the main one.
  const table = isLocal && !isIPv4 ? TABLE.LOCAL : TABLE.MAIN;
  const bytes = addressBytes(address);
  const header = Buffer.alloc(12);
  header.set([familyOf(address), bytes.length * 8, isIPv4 ? 0 : bytes.length * 8, 0, table]);
  header.writeUInt8(isIPv4 ? RTPROT.UNSPEC : gateway === undefined ? RTPROT.KERNEL : RTPROT.STATIC, 5);
  header.writeUInt8(ROUTE_TYPE[type], 7);
  if (isIPv4) header.writeUInt32LE(isLocal ? CLONED + LOCAL_ROUTE : CLONED, 8);
  builder.raw(header).u32(RTA.TABLE, table).attribute(RTA.DST, bytes).u32(RTA.OIF, device);
  if (!isIPv4) builder.attribute(RTA.SRC, addressBytes('::'));
  if (source !== '') builder.attribute(RTA.PREFSRC, addressBytes(source));
  if (gateway !== undefined) builder.attribute(RTA.GATEWAY, addressBytes(gateway));
}

/** struct ndmsg and what follows it. */
export function putNeighbour(builder: MessageBuilder, device: number, address: string, state: number): void {
  const header = Buffer.alloc(12);
  header.writeUInt8(familyOf(address), 0);
  header.writeInt32LE(device, 4);
  header.writeUInt16LE(state, 8);
  header.writeUInt8(ROUTE_TYPE.unicast, 11);
  builder.raw(header).attribute(NDA_DST, addressBytes(address));
}
