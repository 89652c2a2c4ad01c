import type { IpFamily } from '../../domain/net/ip-family.js';
import { AttributeReader } from '../netlink/attribute-reader.js';
import { ENODEV, EEXIST, EOPNOTSUPP } from '../netlink/errno.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import type { NetlinkChannel } from '../netlink/netlink-channel.js';
import type { NetlinkConversation } from '../netlink/netlink-conversation.js';
import { succeeded, type NetlinkRequest } from '../netlink/netlink-request.js';
import { NLM_F_CREATE, NLM_F_EXCL } from '../netlink/protocol.js';
import {
  IFLA_BR_NF_CALL_IP6TABLES,
  IFLA_BR_NF_CALL_IPTABLES,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  LINK_HEADER_LENGTH,
  RTM_DELLINK,
  RTM_GETLINK,
  RTM_NEWLINK,
} from './rtnetlink.js';

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

/** @param index 0 where another attribute tells the device, or all are meant */
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
