import { addressBytes, addressText } from '../netlink/addresses.js';
import { attributesWithin, textOf, type Attributes } from '../netlink/attributes.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { AF_INET, AF_INET6, EAFNOSUPPORT, EINVAL } from '../netlink/numbers.js';
import { refuse, type Refusal } from '../netlink/requests.js';
import { CMD_ATTR, DEST_ATTR, FORWARDING, HASHED, MAX_SCHEDULER, SVC_ATTR } from './ip-vs.js';
import type {
  Destination,
  DestinationSettings,
  ServerId,
  ServerSettings,
  VirtualServer,
} from './virtual-server.js';

const IPPROTO_TCP = 6;
/** Bytes of union nf_inet_addr. */
const ADDRESS = 16;

/** Which virtual server a request is about. */
export function readServerId(attributes: Attributes): ServerId | Refusal {
  const server = attributesWithin(attributes, CMD_ATTR.SERVICE);
  const family = numberOf(server, SVC_ATTR.AF, 2);
  const [mark, protocol] = [numberOf(server, SVC_ATTR.FWMARK, 4), numberOf(server, SVC_ATTR.PROTOCOL, 2)];
  const [address, port] = [server?.get(SVC_ATTR.ADDR), portOf(server, SVC_ATTR.PORT)];
  if (family === undefined) return refuse(EINVAL);
  const isWhole = address !== undefined && protocol !== undefined && port !== undefined;
  if (mark === undefined && !isWhole) return refuse(EINVAL);
  if (family !== AF_INET && family !== AF_INET6) return refuse(EAFNOSUPPORT);
  if (mark !== undefined) return { family, protocol: IPPROTO_TCP, address: '', port: 0, firewallMark: mark };
  if (!isWhole || address.length > ADDRESS) return refuse(EINVAL);
  return { family, protocol, address: textOfAddress(address, family), port, firewallMark: 0 };
}

/**
 * What a request says of a virtual server.
 * @param before its flags, of which the request may name a part
 */
export function readServerSettings(attributes: Attributes, before: number): ServerSettings | Refusal {
  const server = attributesWithin(attributes, CMD_ATTR.SERVICE);
  const [scheduler, flags] = [server?.get(SVC_ATTR.SCHED_NAME), server?.get(SVC_ATTR.FLAGS)];
  const [timeout, netmask] = [numberOf(server, SVC_ATTR.TIMEOUT, 4), server?.get(SVC_ATTR.NETMASK)];
  if (!scheduler || !flags || timeout === undefined || netmask?.length !== 4) return refuse(EINVAL);
  if (flags.length !== 8 || !scheduler.includes(0) || textOf(scheduler).length > MAX_SCHEDULER)
    return refuse(EINVAL);
  const [value, mask] = [flags.readUInt32LE(0), flags.readUInt32LE(4)];
  const isIPv6 = numberOf(server, SVC_ATTR.AF, 2) === AF_INET6;
  return {
    ...{ scheduler: textOf(scheduler), timeout },
    flags: (((before & ~mask) | (value & mask)) & ~HASHED) >>> 0,
    // As stored: a mask in network byte order, a length in the host's.
    netmask: isIPv6 ? netmask.readUInt32LE(0) : netmask.readUInt32BE(0),
  };
}

/** Which destination a request is about. */
export function readDestinationId(
  attributes: Attributes,
  server: ServerId,
): Pick<Destination, 'family' | 'address' | 'port'> | Refusal {
  const destination = attributesWithin(attributes, CMD_ATTR.DEST);
  const [address, port] = [destination?.get(DEST_ATTR.ADDR), portOf(destination, DEST_ATTR.PORT)];
  if (!address || address.length > ADDRESS || port === undefined) return refuse(EINVAL);
  // 0 stands for that of the server.
  const family = numberOf(destination, DEST_ATTR.ADDR_FAMILY, 2) || server.family;
  if (family !== AF_INET && family !== AF_INET6) return refuse(EAFNOSUPPORT);
  return { family, port, address: textOfAddress(address, family) };
}

export function readDestinationSettings(attributes: Attributes): DestinationSettings | Refusal {
  const destination = attributesWithin(attributes, CMD_ATTR.DEST);
  const forwarding = numberOf(destination, DEST_ATTR.FWD_METHOD, 4);
  const weight = numberOf(destination, DEST_ATTR.WEIGHT, 4);
  const upperThreshold = numberOf(destination, DEST_ATTR.U_THRESH, 4);
  const lowerThreshold = numberOf(destination, DEST_ATTR.L_THRESH, 4);
  if (forwarding === undefined || weight === undefined) return refuse(EINVAL);
  if (upperThreshold === undefined || lowerThreshold === undefined) return refuse(EINVAL);
  return { forwarding: forwarding & FORWARDING, weight: weight | 0, upperThreshold, lowerThreshold };
}

export function putServer(builder: MessageBuilder, server: VirtualServer): void {
  const { family, protocol, address, port, firewallMark, scheduler, flags, timeout, netmask } = server;
  builder.nest(
    CMD_ATTR.SERVICE,
    () => {
      builder.u16(SVC_ATTR.AF, family);
      if (firewallMark !== 0) builder.u32(SVC_ATTR.FWMARK, firewallMark);
      else
        builder
          .u16(SVC_ATTR.PROTOCOL, protocol)
          .attribute(SVC_ATTR.ADDR, paddedAddress(address))
          .be16(SVC_ATTR.PORT, port);
      const both = Buffer.alloc(8, 0xff);
      both.writeUInt32LE((flags | HASHED) >>> 0, 0);
      builder
        .text(SVC_ATTR.SCHED_NAME, scheduler)
        .attribute(SVC_ATTR.FLAGS, both)
        .u32(SVC_ATTR.TIMEOUT, timeout);
      if (family === AF_INET6) builder.u32(SVC_ATTR.NETMASK, netmask);
      else builder.be32(SVC_ATTR.NETMASK, netmask);
    },
    0,
  );
}

export function putDestination(builder: MessageBuilder, destination: Destination): void {
  const { family, address, port, forwarding, weight, upperThreshold, lowerThreshold } = destination;
  builder.nest(
    CMD_ATTR.DEST,
    () => {
      builder.attribute(DEST_ATTR.ADDR, paddedAddress(address)).be16(DEST_ATTR.PORT, port);
      builder.u32(DEST_ATTR.FWD_METHOD, forwarding).u32(DEST_ATTR.WEIGHT, weight);
      builder.u32(DEST_ATTR.U_THRESH, upperThreshold).u32(DEST_ATTR.L_THRESH, lowerThreshold);
      builder.u32(DEST_ATTR.ACTIVE_CONNS, destination.activeConnections);
      builder.u32(DEST_ATTR.INACT_CONNS, destination.inactiveConnections);
      builder.u32(DEST_ATTR.PERSIST_CONNS, 0).u16(DEST_ATTR.ADDR_FAMILY, family);
    },
    0,
  );
}

function numberOf(attributes: Attributes | undefined, type: number, size: 2 | 4): number | undefined {
  const bytes = attributes?.get(type);
  return bytes && bytes.length >= size ? bytes.readUIntLE(0, size) : undefined;
}

function portOf(attributes: Attributes | undefined, type: number): number | undefined {
  const bytes = attributes?.get(type);
  return bytes && bytes.length >= 2 ? bytes.readUInt16BE(0) : undefined;
}

/** The kernel has room for an address of IPv6 and fills what is missing with zeros. */
function textOfAddress(bytes: Buffer, family: number): string {
  const whole = Buffer.alloc(ADDRESS);
  bytes.copy(whole);
  return addressText(family === AF_INET ? whole.subarray(0, 4) : whole);
}

function paddedAddress(address: string): Buffer {
  const whole = Buffer.alloc(ADDRESS);
  addressBytes(address).copy(whole);
  return whole;
}
