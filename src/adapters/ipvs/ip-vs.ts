/** Messages of the netlink family IPVS: their numbers (linux/ip_vs.h, docs/internals/spec/ipvs.md §4.8), readers and writers. */

import {
  type CountedRealServer,
  type VirtualServer,
  PERSISTENT,
  type RealServer,
  type VirtualServerId,
} from '../../domain/ipvs/virtual-server.js';
import { protocolOfNumber, PROTOCOL_NUMBERS, type Protocol } from '../../domain/model/service-port-name.js';
import { type IpFamily, familyOf } from '../../domain/net/ip-family.js';
import { ENOENT } from '../netlink/errors.js';
import { AttributeReader, type NetlinkMessage } from '../netlink/message-reader.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import type { NetlinkChannel } from '../netlink/netlink-channel.js';
import { addressText, familyNumber, addressBytes } from '../netlink/protocol.js';

export const FAMILY_NAME = 'IPVS';
export const VERSION = 1;

export const COMMAND = {
  NEW_SERVICE: 1,
  SET_SERVICE: 2,
  DEL_SERVICE: 3,
  GET_SERVICE: 4,
  NEW_DEST: 5,
  SET_DEST: 6,
  DEL_DEST: 7,
  GET_DEST: 8,
  SET_CONFIG: 12,
} as const;

/** Attributes of a message. */
export const ATTRIBUTE = { SERVICE: 1, DEST: 2, TIMEOUT_TCP: 4, TIMEOUT_TCP_FIN: 5, TIMEOUT_UDP: 6 } as const;

/** Attributes of a virtual server. */
const SERVICE = {
  AF: 1,
  PROTOCOL: 2,
  ADDR: 3,
  PORT: 4,
  SCHED_NAME: 6,
  FLAGS: 7,
  TIMEOUT: 8,
  NETMASK: 9,
} as const;

/** Attributes of a real server. */
const DEST = {
  ADDR: 1,
  PORT: 2,
  FWD_METHOD: 3,
  WEIGHT: 4,
  U_THRESH: 5,
  L_THRESH: 6,
  ACTIVE_CONNS: 7,
  INACT_CONNS: 8,
  ADDR_FAMILY: 11,
} as const;

/** The flag that the kernel sets on every virtual server that it lists (`IP_VS_SVC_F_HASHED`). */
const HASHED = 0x2;

/** Rewrites the destination of packets (`IP_VS_CONN_F_MASQ`). */
const MASQUERADING = 0;

const IPV6 = familyNumber('IPv6');

/** The virtual server of a message; undefined for one by firewall mark, which has no address. */
export function readServer(message: NetlinkMessage): VirtualServer | undefined {
  const attributes = attributesIn(message, ATTRIBUTE.SERVICE);
  let family: number | undefined;
  let protocol: Protocol | undefined;
  let scheduler = '';
  let port = 0;
  let flags = 0;
  let persistenceSeconds = 0;
  let address = 0;
  while (attributes?.next()) {
    if (attributes.type === SERVICE.AF) family = attributes.hostNumber();
    else if (attributes.type === SERVICE.PROTOCOL) protocol = protocolOfNumber(attributes.hostNumber());
    else if (attributes.type === SERVICE.ADDR) address = attributes.start;
    else if (attributes.type === SERVICE.PORT) port = attributes.number();
    else if (attributes.type === SERVICE.SCHED_NAME) scheduler = attributes.text();
    else if (attributes.type === SERVICE.FLAGS) flags = message.bytes.readUInt32LE(attributes.start);
    else if (attributes.type === SERVICE.TIMEOUT) persistenceSeconds = attributes.hostNumber();
  }
  if (protocol === undefined || address === 0) return undefined;
  return {
    address: textOf(message, address, family),
    protocol,
    port,
    scheduler,
    flags: flags & ~HASHED,
    persistenceSeconds,
  };
}

/**
 * The real server of a message.
 * @param family of the virtual server, and so of its real servers, unless they are reached through a tunnel
 */
export function readRealServer(message: NetlinkMessage, family: IpFamily): CountedRealServer | undefined {
  const attributes = attributesIn(message, ATTRIBUTE.DEST);
  let addressFamily = family === 'IPv6' ? IPV6 : undefined;
  let address = 0;
  let port = 0;
  let weight = 0;
  let activeConnections = 0;
  let inactiveConnections = 0;
  while (attributes?.next()) {
    if (attributes.type === DEST.ADDR) address = attributes.start;
    else if (attributes.type === DEST.PORT) port = attributes.number();
    else if (attributes.type === DEST.WEIGHT) weight = attributes.hostNumber();
    else if (attributes.type === DEST.ACTIVE_CONNS) activeConnections = attributes.hostNumber();
    else if (attributes.type === DEST.INACT_CONNS) inactiveConnections = attributes.hostNumber();
    else if (attributes.type === DEST.ADDR_FAMILY) addressFamily = attributes.hostNumber();
  }
  if (address === 0) return undefined;
  return {
    address: textOf(message, address, addressFamily),
    port,
    weight,
    activeConnections,
    inactiveConnections,
  };
}

/** The kernel writes sixteen bytes for every address. An IPv4 address is in the first four. */
function textOf({ bytes }: NetlinkMessage, start: number, family: number | undefined): string {
  return addressText(bytes, start, start + (family === IPV6 ? 16 : 4));
}

function attributesIn({ bytes, start, end }: NetlinkMessage, type: number): AttributeReader | undefined {
  const outer = new AttributeReader(bytes, start + GENERIC_HEADER_LENGTH, end);
  while (outer.next()) if (outer.type === type) return outer.nested();
  return undefined;
}

const ALL_FLAGS = 0xffffffff;

/** The identity of a virtual server. */
export function putServerId(writer: MessageWriter, id: VirtualServerId): void {
  const nest = writer.beginNest(ATTRIBUTE.SERVICE);
  putId(writer, id);
  writer.endNest(nest);
}

/** A virtual server with all its attributes. */
export function putServer(writer: MessageWriter, server: VirtualServer): void {
  const nest = writer.beginNest(ATTRIBUTE.SERVICE);
  putId(writer, server);
  writer.putText(SERVICE.SCHED_NAME, server.scheduler);
  const flags = Buffer.alloc(8);
  flags.writeUInt32LE(server.flags, 0);
  flags.writeUInt32LE(ALL_FLAGS, 4);
  writer.putBytes(SERVICE.FLAGS, flags);
  const persistent = (server.flags & PERSISTENT) !== 0;
  writer.putHostU32(SERVICE.TIMEOUT, persistent ? server.persistenceSeconds : 0);
  // Persistence applies to each client address: a full mask in IPv4, the full prefix length in IPv6.
  writer.putHostU32(SERVICE.NETMASK, familyOf(server.address) === 'IPv6' ? 128 : 0xffffffff);
  writer.endNest(nest);
}

/** A real server: with its weight all its attributes, else what identifies it. */
export function putRealServer(
  writer: MessageWriter,
  { address, port }: Pick<RealServer, 'address' | 'port'>,
  weight?: number,
): void {
  const nest = writer.beginNest(ATTRIBUTE.DEST);
  writer.putBytes(DEST.ADDR, addressBytes(address));
  writer.putU16(DEST.PORT, port);
  if (weight !== undefined) {
    writer.putHostU32(DEST.FWD_METHOD, MASQUERADING);
    writer.putHostU32(DEST.WEIGHT, weight);
    writer.putHostU32(DEST.U_THRESH, 0);
    writer.putHostU32(DEST.L_THRESH, 0);
  }
  writer.endNest(nest);
}

function putId(writer: MessageWriter, { address, protocol, port }: VirtualServerId): void {
  writer.putHostU16(SERVICE.AF, familyNumber(familyOf(address)));
  writer.putHostU16(SERVICE.PROTOCOL, PROTOCOL_NUMBERS[protocol]);
  writer.putBytes(SERVICE.ADDR, addressBytes(address));
  writer.putU16(SERVICE.PORT, port);
}

/** linux/genetlink.h */
const GENL_ID_CTRL = 0x10;
const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR_FAMILY_ID = 1;
const CTRL_ATTR_FAMILY_NAME = 2;

/** Bytes of struct genlmsghdr. */
const GENERIC_HEADER_LENGTH = 4;

/** struct genlmsghdr as a word: command and version. */
export function genericHeader(command: number, version: number): number {
  return command | (version << 8);
}

/**
 * The number that the kernel has given to a family of generic netlink; it may change when the family's module is loaded
 * again. Undefined if the kernel does not have the family.
 */
export function findGenericFamily(channel: NetlinkChannel, name: string): Promise<number | undefined> {
  const request = {
    type: GENL_ID_CTRL,
    attempt: `asking for the netlink family ${name}`,
    put: (writer: MessageWriter) => {
      writer.putWord(genericHeader(CTRL_CMD_GETFAMILY, 1));
      writer.putText(CTRL_ATTR_FAMILY_NAME, name);
    },
  };
  return channel.find(request, [ENOENT], ({ bytes, start, end }) => {
    const attributes = new AttributeReader(bytes, start + GENERIC_HEADER_LENGTH, end);
    while (attributes.next()) if (attributes.type === CTRL_ATTR_FAMILY_ID) return attributes.hostNumber();
    return undefined;
  });
}
