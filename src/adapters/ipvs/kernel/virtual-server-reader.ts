import type { CountedRealServer, VirtualServer } from '../../../domain/ipvs/virtual-server.js';
import { protocolOfNumber } from '../../../domain/model/protocol-number.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { addressText } from '../../netlink/address-bytes.js';
import { AttributeReader } from '../../netlink/attribute-reader.js';
import { GENERIC_HEADER_LENGTH } from '../../netlink/generic-netlink.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import { familyNumber } from '../../netlink/protocol.js';
import { ATTRIBUTE, DEST, HASHED, SERVICE } from './ip-vs.js';

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
