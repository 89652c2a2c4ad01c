import type { FlowPlace } from '../../domain/conntrack/flow-place.js';
import { PROTOCOL_NUMBERS } from '../../domain/model/protocol-number.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import { addressBytes } from '../netlink/address-bytes.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { CTA, FILTER, FILTER_FLAG, STATUS_SEEN_REPLY, TUPLE, TUPLE_IP, TUPLE_PROTO } from './ctnetlink.js';

/** Which flows the kernel is asked for. */
export interface DumpQuery extends FlowPlace {
  readonly protocol: Protocol;
  /** What the place is: where clients send to, or where answers come from. */
  readonly end: 'destination' | 'endpoint';
  /** Only those that were answered, or only the others; undefined for all. */
  readonly replied: boolean | undefined;
}

/** Where each end is in a message. */
const ENDS = {
  destination: {
    ...{ tuple: CTA.TUPLE_ORIG, address: TUPLE_IP.V4_DST, port: TUPLE_PROTO.DST_PORT },
    ...{ flags: FILTER.ORIG_FLAGS, addressFlag: FILTER_FLAG.IP_DST, portFlag: FILTER_FLAG.PROTO_DST_PORT },
  },
  endpoint: {
    ...{ tuple: CTA.TUPLE_REPLY, address: TUPLE_IP.V4_SRC, port: TUPLE_PROTO.SRC_PORT },
    ...{ flags: FILTER.REPLY_FLAGS, addressFlag: FILTER_FLAG.IP_SRC, portFlag: FILTER_FLAG.PROTO_SRC_PORT },
  },
} as const;

/**
 * Writes the filter that makes the kernel send only flows that match the query. Kernels before 5.8 ignore it and send
 * everything; those before 5.18 ignore the status. Ports of SCTP are not compared. It has no IPv6 addresses, because kernels
 * compare them the wrong way round: they send only what does not match.
 */
export function writeDumpFilter(writer: MessageWriter, query: DumpQuery): void {
  const { address, port, replied } = query;
  const end = ENDS[query.end];
  const ipv4 = address === undefined || address.includes(':') ? undefined : address;
  const tuple = writer.beginNest(end.tuple);
  if (ipv4 !== undefined) {
    const ip = writer.beginNest(TUPLE.IP);
    writer.putBytes(end.address, addressBytes(ipv4));
    writer.endNest(ip);
  }
  const protocol = writer.beginNest(TUPLE.PROTO);
  writer.putU8(TUPLE_PROTO.NUM, PROTOCOL_NUMBERS[query.protocol]);
  if (port !== undefined) writer.putBytes(end.port, Uint8Array.of(port >>> 8, port & 0xff));
  writer.endNest(protocol);
  writer.endNest(tuple);
  const flags =
    FILTER_FLAG.PROTO_NUM |
    (ipv4 === undefined ? 0 : end.addressFlag) |
    (port === undefined ? 0 : end.portFlag);
  const filter = writer.beginNest(CTA.FILTER);
  // Unlike most numbers in attributes, these have the host's byte order.
  writer.putBytes(end.flags, Uint8Array.of(flags, 0, 0, 0));
  writer.endNest(filter);
  if (replied === undefined) return;
  writer.putU32(CTA.STATUS, replied ? STATUS_SEEN_REPLY : 0);
  writer.putU32(CTA.STATUS_MASK, STATUS_SEEN_REPLY);
}
