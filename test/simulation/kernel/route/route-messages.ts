import { addressBytes, familyOf } from '../netlink/addresses.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { AF_INET } from '../netlink/numbers.js';
import type { DeviceAddress, Link } from './link.js';
import type { FoundRoute } from './routes.js';
import {
  ARPHRD,
  IFA,
  IFA_F_PERMANENT,
  IFF,
  IFLA,
  IFLA_INFO_KIND,
  NDA_DST,
  OPERSTATE,
  ROUTE_TYPE,
  RTA,
  TABLE,
} from './rtnetlink.js';

/** struct ifinfomsg and what follows it. */
export function putLink(builder: MessageBuilder, link: Link): void {
  const isLoopback = (link.flags & IFF.LOOPBACK) !== 0;
  const header = Buffer.alloc(16);
  header.writeUInt16LE(isLoopback ? ARPHRD.LOOPBACK : ARPHRD.ETHER, 2);
  header.writeInt32LE(link.index, 4);
  header.writeUInt32LE(link.flags, 8);
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

/** struct ifaddrmsg and what follows it. */
export function putAddress(builder: MessageBuilder, item: DeviceAddress): void {
  const { device, address, prefixLength, peer, scope } = item;
  const isIPv4 = familyOf(address) === AF_INET;
  const header = Buffer.alloc(8);
  header.writeUInt8(familyOf(address), 0);
  header.writeUInt8(prefixLength, 1);
  header.writeUInt8(IFA_F_PERMANENT, 2);
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
  builder.u32(IFA.FLAGS, IFA_F_PERMANENT);
}

/** struct rtmsg and what follows it, as the answer to a question for one address. */
export function putRoute(builder: MessageBuilder, address: string, route: FoundRoute): void {
  const { type, device, source, gateway } = route;
  const table = type === 'local' ? TABLE.LOCAL : TABLE.MAIN;
  const bytes = addressBytes(address);
  builder.raw(
    Buffer.of(familyOf(address), bytes.length * 8, 0, 0, table, 0, 0, ROUTE_TYPE[type], 0, 0, 0, 0),
  );
  builder.u32(RTA.TABLE, table).attribute(RTA.DST, bytes).u32(RTA.OIF, device);
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
