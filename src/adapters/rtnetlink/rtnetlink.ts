/** Network devices and their addresses over rtnetlink. */

import { parseAddress } from '../../domain/net/address.js';
import { addressBits } from '../../domain/net/cidr.js';
import { type IpFamily, familyOf } from '../../domain/net/ip-family.js';
import { ENODEV, EEXIST, EOPNOTSUPP, LIST_ATTEMPTS, NetlinkUnsteadyError } from '../netlink/errors.js';
import { AttributeReader, type NetlinkMessage } from '../netlink/message-reader.js';
import {
  type NetlinkChannel,
  type NetlinkConversation,
  succeeded,
  type NetlinkRequest,
} from '../netlink/netlink-channel.js';
import {
  NLM_F_CREATE,
  NLM_F_EXCL,
  familyNumber,
  NLM_F_DUMP,
  addressBytes,
  addressText,
} from '../netlink/protocol.js';

/** The constants of linux/rtnetlink.h, linux/if.h, linux/if_link.h, linux/if_addr.h and linux/neighbour.h that are used here. */

export const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
const RTM_GETADDR = 22;

export const RTM_GETROUTE = 26;

/** Its struct ndmsg: family and padding, the index of the device, then state (16 bits), flags and type. */
export const RTM_GETNEIGH = 30;

export const NDA_DST = 1;

/** States of neighbours, `NUD_…` of linux/neighbour.h, as `ip neighbour` prints them. */
export const NUD_STATES: ReadonlyMap<number, string> = new Map([
  [0x01, 'INCOMPLETE'],
  [0x02, 'REACHABLE'],
  [0x04, 'STALE'],
  [0x08, 'DELAY'],
  [0x10, 'PROBE'],
  [0x20, 'FAILED'],
  [0x40, 'NOARP'],
  [0x80, 'PERMANENT'],
]);

/** Multicast groups for notifications. */
export const RTMGRP_LINK = 0x1;
export const RTMGRP_IPV4_IFADDR = 0x10;
export const RTMGRP_IPV6_IFADDR = 0x100;

const IFLA_IFNAME = 3;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;
const IFLA_INFO_DATA = 2;
const IFLA_BR_NF_CALL_IPTABLES = 36;
const IFLA_BR_NF_CALL_IP6TABLES = 37;

export const IFF_UP = 0x1;
export const IFF_POINTOPOINT = 0x10;

const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;

export const RTA_DST = 1;
export const RTA_OIF = 4;
export const RTA_GATEWAY = 5;
export const RTA_PREFSRC = 7;

/** Types of routes that packets take; others reject them. */
export const RTN_UNICAST = 1;
export const RTN_LOCAL = 2;

/** Bytes of struct rtmsg: family, lengths of the prefixes, TOS, table, protocol, scope and type, one byte each, then flags. */
export const ROUTE_HEADER_LENGTH = 12;

/** Bytes of struct ifinfomsg: family and type, index, flags, changed flags. */
const LINK_HEADER_LENGTH = 16;

/** Bytes of struct ifaddrmsg: family, prefix length, flags and scope, one byte each, then the index of the device. */
const ADDRESS_HEADER_LENGTH = 8;

const AF_UNSPEC = 0;

/** A network device. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `dummy`, `veth`, …; empty for hardware and loopback. */
  readonly kind: string;
  /** The kernel's flags, `IFF_…`. */
  readonly flags: number;
  /** Only of a bridge. `filters`: its own setting has the packets of a family meet rules. */
  readonly bridge?: { readonly filters: Readonly<Record<IpFamily, boolean>> };
}

/** The device with this name; undefined if there is none. */
export function findLink(channel: NetlinkChannel, name: string): Promise<Link | undefined> {
  return channel.find(searchFor(name), [ENODEV], readLink);
}

/** The same, synchronously. */
export function findLinkNow(conversation: NetlinkConversation, name: string): Link | undefined {
  let link: Link | undefined;
  const request = searchFor(name);
  const reply = conversation.exchangeNow(request, 0, (message) => (link = readLink(message)));
  return succeeded(request, reply, [ENODEV]) ? link : undefined;
}

/** The device with this index; undefined if there is none. */
export function linkOfIndex(channel: NetlinkChannel, index: number): Promise<Link | undefined> {
  return channel.find(
    linkRequest(RTM_GETLINK, `looking for device number ${index}`, index),
    [ENODEV],
    readLink,
  );
}

/** All devices of this network namespace. */
export function listLinks(channel: NetlinkChannel): Promise<readonly Link[]> {
  return channel.list(linkRequest(RTM_GETLINK, 'listing the devices of this node'), readLink);
}

/** Creates a device of type dummy, which is down. Returns false if a device with this name exists. */
export async function addDummy(channel: NetlinkChannel, name: string): Promise<boolean> {
  const creation = linkRequest(RTM_NEWLINK, `creating the device ${name} of type dummy`, 0, (writer) => {
    writer.putText(IFLA_IFNAME, name);
    const info = writer.beginNest(IFLA_LINKINFO);
    writer.putText(IFLA_INFO_KIND, 'dummy');
    writer.endNest(info);
  });
  const request = { ...creation, flags: NLM_F_CREATE | NLM_F_EXCL };
  const [reply] = await channel.perform([request]);
  const advice = 'the kernel does not support dummy devices; load the module (modprobe dummy)';
  const explained = reply!.errno === EOPNOTSUPP ? { ...reply!, explanation: advice } : reply!;
  return succeeded(request, explained, [EEXIST]);
}

/** Removes a device with all its addresses. It is fine if it no longer exists. */
export async function deleteLink(channel: NetlinkChannel, { index, name }: Link): Promise<void> {
  await channel.carryOut(linkRequest(RTM_DELLINK, `removing the device ${name}`, index), [ENODEV]);
}

/** The device in a message or notification. */
export function readLink({ bytes, start, end }: NetlinkMessage): Link {
  const attributes = new AttributeReader(bytes, start + LINK_HEADER_LENGTH, end);
  let name = '';
  let kind = '';
  let filters = { IPv4: false, IPv6: false };
  while (attributes.next()) {
    if (attributes.type === IFLA_IFNAME) name = attributes.text();
    else if (attributes.type === IFLA_LINKINFO) {
      const info = attributes.nested();
      while (info.next()) {
        if (info.type === IFLA_INFO_KIND) kind = info.text();
        // The kernel writes the kind first.
        else if (info.type === IFLA_INFO_DATA && kind === 'bridge') filters = readFilters(info.nested());
      }
    }
  }
  return {
    index: bytes.readInt32LE(start + 4),
    name,
    kind,
    flags: bytes.readUInt32LE(start + 8),
    ...(kind === 'bridge' && { bridge: { filters } }),
  };
}

function readFilters(data: AttributeReader): Record<IpFamily, boolean> {
  const filters = { IPv4: false, IPv6: false };
  while (data.next()) {
    if (data.type === IFLA_BR_NF_CALL_IPTABLES) filters.IPv4 = data.number() !== 0;
    else if (data.type === IFLA_BR_NF_CALL_IP6TABLES) filters.IPv6 = data.number() !== 0;
  }
  return filters;
}

function searchFor(name: string): NetlinkRequest {
  return linkRequest(RTM_GETLINK, `looking for the device ${name}`, 0, (writer) =>
    writer.putText(IFLA_IFNAME, name),
  );
}

/** @param index 0 for all devices, or where an attribute names the device */
function linkRequest(
  type: number,
  attempt: string,
  index = 0,
  putAttributes?: NetlinkRequest['put'],
): NetlinkRequest {
  return {
    type,
    attempt,
    put(writer) {
      for (const word of [0, index, 0, 0]) writer.putWord(word);
      putAttributes?.(writer);
    },
  };
}

/** An address on a device. */
interface DeviceAddress {
  readonly device: number;
  readonly family: IpFamily;
  /** Canonical. */
  readonly address: string;
  /** Unique: a device may have an address several times, with different prefixes or peers. */
  readonly key: string;
}

/** All addresses of all devices of this network namespace, up or down; only of one family if it is given. */
export function listAddresses(channel: NetlinkChannel, family?: IpFamily): Promise<readonly DeviceAddress[]> {
  return channel.list(listingRequest(family), (message) => {
    const address = readAddress(message);
    return family === undefined || address?.family === family ? address : undefined;
  });
}

/** The addresses of all devices except one, synchronously. */
export function readAddressesNow(
  conversation: NetlinkConversation,
  except?: number,
): readonly DeviceAddress[] {
  const request = listingRequest();
  for (let count = 0; count < LIST_ATTEMPTS; count++) {
    const found: DeviceAddress[] = [];
    const reply = conversation.exchangeNow(request, NLM_F_DUMP, (message) => {
      const address = deviceOf(message) === except ? undefined : readAddress(message);
      if (address) found.push(address);
    });
    if (succeeded(request, reply) && !reply.interrupted) return found;
  }
  throw new NetlinkUnsteadyError(request.attempt);
}

/** The address in a message or notification. */
export function readAddress({ bytes, start, end }: NetlinkMessage): DeviceAddress | undefined {
  const attributes = new AttributeReader(bytes, start + ADDRESS_HEADER_LENGTH, end);
  let local: string | undefined;
  let other: string | undefined;
  while (attributes.next()) {
    if (attributes.type === IFA_LOCAL) local = addressText(bytes, attributes.start, attributes.end);
    else if (attributes.type === IFA_ADDRESS) other = addressText(bytes, attributes.start, attributes.end);
  }
  // On a point-to-point link the other one is the address of the peer.
  const address = parseAddress(local ?? other);
  if (!address) return undefined;
  const device = deviceOf({ bytes, start });
  const { family, text } = address;
  return { device, family, address: text, key: `${device} ${text}/${bytes[start + 1]} ${other}` };
}

/** The index of the device in a message or notification about an address. */
export function deviceOf({ bytes, start }: Pick<NetlinkMessage, 'bytes' | 'start'>): number {
  return bytes.readInt32LE(start + 4);
}

function listingRequest(family?: IpFamily): NetlinkRequest {
  return {
    type: RTM_GETADDR,
    attempt: 'listing the addresses of this node',
    put: (writer) => {
      writer.putWord(family === undefined ? AF_UNSPEC : familyNumber(family));
      writer.putWord(0);
    },
  };
}

/** Adds an address to a device, with its full length as the prefix, so without neighbors; or removes such an address. */
export function addressRequest(
  kind: 'add' | 'remove',
  device: number,
  address: string,
  attempt: string,
): NetlinkRequest {
  const family = familyOf(address);
  return {
    ...(kind === 'add' ? { type: RTM_NEWADDR, flags: NLM_F_CREATE | NLM_F_EXCL } : { type: RTM_DELADDR }),
    attempt,
    put: (writer) => {
      writer.putWord(familyNumber(family) | (addressBits(family) << 8));
      writer.putWord(device);
      writer.putBytes(IFA_LOCAL, addressBytes(address));
      writer.putBytes(IFA_ADDRESS, addressBytes(address));
    },
  };
}
