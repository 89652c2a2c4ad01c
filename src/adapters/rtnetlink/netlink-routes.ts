import type { Route, Routes } from '../../application/ports/node/network.js';
import { addressBits } from '../../domain/net/cidr.js';
import { familyOf } from '../../domain/net/ip-family.js';
import { addressBytes, addressText, familyNumber, NETLINK_ROUTE } from '../netlink/protocol.js';
import { AttributeReader, type NetlinkMessage } from '../netlink/message-reader.js';
import { EACCES, EHOSTUNREACH, EINVAL, ENETUNREACH } from '../netlink/errors.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import {
  linkOfIndex,
  ROUTE_HEADER_LENGTH,
  RTA_DST,
  RTA_GATEWAY,
  RTA_OIF,
  RTA_PREFSRC,
  RTM_GETROUTE,
  RTN_LOCAL,
  RTN_UNICAST,
} from './rtnetlink.js';
/** Errors of the kernel without a route, or with one that rejects: `unreachable`, `prohibit`, `blackhole`. */
const NO_ROUTE = [ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL];

/** A route, with the index of its device. */
type FoundRoute = Omit<Route, 'device'> & { readonly device: number };

/** The routes of this network namespace, one lookup for each call, as `ip route get`. */
export class NetlinkRoutes implements Routes {
  private readonly channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_ROUTE));
  private readonly names = new Map<number, string>();

  /** Rejects with a NetlinkError if the lookup fails. */
  async to(address: string): Promise<Route | undefined> {
    const family = familyOf(address);
    const attempt = `looking for the route to ${address}`;
    const put = (writer: MessageWriter): void => {
      writer.putWord(familyNumber(family) | (addressBits(family) << 8));
      writer.putWord(0);
      writer.putWord(0);
      writer.putBytes(RTA_DST, addressBytes(address));
    };
    const found = await this.channel.find({ type: RTM_GETROUTE, attempt, put }, NO_ROUTE, readRoute);
    return found && { ...found, device: await this.nameOf(found.device) };
  }

  close(): Promise<void> {
    return this.channel.close();
  }

  private async nameOf(device: number): Promise<string> {
    const name =
      this.names.get(device) ?? (await linkOfIndex(this.channel, device))?.name ?? `device ${device}`;
    this.names.set(device, name);
    return name;
  }
}

/** Undefined for routes that reject packets. */
function readRoute({ bytes, start, end }: NetlinkMessage): FoundRoute | undefined {
  const type = bytes[start + 7];
  if (type !== RTN_UNICAST && type !== RTN_LOCAL) return undefined;
  const attributes = new AttributeReader(bytes, start + ROUTE_HEADER_LENGTH, end);
  let device = 0;
  let source = '';
  let gateway: string | undefined;
  while (attributes.next()) {
    if (attributes.type === RTA_OIF) device = attributes.hostNumber();
    else if (attributes.type === RTA_PREFSRC) source = addressText(bytes, attributes.start, attributes.end);
    else if (attributes.type === RTA_GATEWAY) gateway = addressText(bytes, attributes.start, attributes.end);
  }
  return { device, source, ...(gateway !== undefined && { gateway }) };
}
