import {
  CTA,
  familyWord,
  PROTOINFO,
  TUPLE,
  TUPLE_IP,
  TUPLE_PROTO,
} from '../../../src/adapters/conntrack/ctnetlink.js';
import { addressBytes } from '../../../src/adapters/netlink/address-bytes.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';

/** A tracked connection as a message tells it; numbers of linux/netfilter/nfnetlink_conntrack.h. */
export interface ToldConnection {
  readonly type: number;
  readonly flags?: number;
  readonly sequence?: number;
  readonly protocol: number;
  readonly client: string;
  readonly clientPort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly endpoint: string;
  readonly endpointPort: number;
  readonly status: number;
  readonly tcpState?: number;
  /** In each direction. */
  readonly bytes?: number;
  readonly id: number;
}

/** The message, its parts in the kernel's order. */
export function connectionMessage(told: ToldConnection): Buffer {
  const writer = new MessageWriter(512);
  const start = writer.beginMessage(told.type, told.flags ?? 0, told.sequence ?? 0);
  writer.putWord(familyWord(told.client.includes(':') ? 'IPv6' : 'IPv4'));
  const client = [told.client, told.clientPort] as const;
  putTuple(writer, CTA.TUPLE_ORIG, told.protocol, client, [told.destination, told.destinationPort]);
  putTuple(writer, CTA.TUPLE_REPLY, told.protocol, [told.endpoint, told.endpointPort], client);
  writer.putU32(CTA.ID, told.id);
  writer.putU32(CTA.STATUS, told.status);
  for (const counters of told.bytes === undefined ? [] : [CTA.COUNTERS_ORIG, CTA.COUNTERS_REPLY]) {
    const nest = writer.beginNest(counters);
    writer.putBytes(1, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 9));
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(told.bytes!));
    writer.putBytes(2, bytes);
    writer.endNest(nest);
  }
  if (told.tcpState !== undefined) {
    const info = writer.beginNest(CTA.PROTOINFO);
    const tcp = writer.beginNest(PROTOINFO.TCP);
    writer.putU8(1, told.tcpState);
    writer.endNest(tcp);
    writer.endNest(info);
  }
  writer.endMessage(start);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

type Side = readonly [address: string, port: number];

function putTuple(writer: MessageWriter, type: number, protocol: number, source: Side, target: Side): void {
  const ipv6 = source[0].includes(':');
  const tuple = writer.beginNest(type);
  const ip = writer.beginNest(TUPLE.IP);
  writer.putBytes(ipv6 ? TUPLE_IP.V6_SRC : TUPLE_IP.V4_SRC, addressBytes(source[0]));
  writer.putBytes(ipv6 ? TUPLE_IP.V6_DST : TUPLE_IP.V4_DST, addressBytes(target[0]));
  writer.endNest(ip);
  const proto = writer.beginNest(TUPLE.PROTO);
  writer.putU8(TUPLE_PROTO.NUM, protocol);
  writer.putBytes(TUPLE_PROTO.SRC_PORT, Uint8Array.of(source[1] >>> 8, source[1] & 0xff));
  writer.putBytes(TUPLE_PROTO.DST_PORT, Uint8Array.of(target[1] >>> 8, target[1] & 0xff));
  writer.endNest(proto);
  writer.endNest(tuple);
}
