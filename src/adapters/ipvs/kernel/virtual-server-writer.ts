import {
  PERSISTENT,
  type RealServer,
  type VirtualServer,
  type VirtualServerId,
} from '../../../domain/ipvs/virtual-server.js';
import { PROTOCOL_NUMBERS } from '../../../domain/model/protocol-number.js';
import { familyOf } from '../../../domain/net/ip-family.js';
import { addressBytes } from '../../netlink/address-bytes.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { familyNumber } from '../../netlink/protocol.js';
import { ATTRIBUTE, DEST, MASQUERADING, SERVICE } from './ip-vs.js';

const ALL_FLAGS = 0xffffffff;

/** What identifies a virtual server. */
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
