import { PROTOCOL_NUMBERS } from '../../domain/model/protocol-number.js';
import type { FlowQuery } from '../../domain/conntrack/suspect-flows.js';
import { addressBytes } from '../netlink/address-bytes.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { CTA, FILTER, FILTER_FLAG, STATUS_SEEN_REPLY, TUPLE, TUPLE_IP, TUPLE_PROTO } from './ctnetlink.js';

/**
 * Writes the filter that makes the kernel send only flows that match the query. Kernels before 5.8 ignore it and send
 * everything; those before 5.18 ignore the status. Ports of SCTP are not compared. It has no IPv6 addresses, because kernels
 * compare them the wrong way round: they send only what does not match.
 */
export function writeDumpFilter(writer: MessageWriter, query: FlowQuery): void {
  const { protocol: protocolName, unreplied, address, port } = query;
  const ipv4 = address === undefined || address.includes(':') ? undefined : address;
  const tuple = writer.beginNest(CTA.TUPLE_ORIG);
  if (ipv4 !== undefined) {
    const ip = writer.beginNest(TUPLE.IP);
    writer.putBytes(TUPLE_IP.V4_DST, addressBytes(ipv4));
    writer.endNest(ip);
  }
  const protocol = writer.beginNest(TUPLE.PROTO);
  writer.putU8(TUPLE_PROTO.NUM, PROTOCOL_NUMBERS[protocolName]);
  if (port !== undefined) writer.putBytes(TUPLE_PROTO.DST_PORT, Uint8Array.of(port >>> 8, port & 0xff));
  writer.endNest(protocol);
  writer.endNest(tuple);
  const flags =
    FILTER_FLAG.PROTO_NUM |
    (ipv4 === undefined ? 0 : FILTER_FLAG.IP_DST) |
    (port === undefined ? 0 : FILTER_FLAG.PROTO_DST_PORT);
  const filter = writer.beginNest(CTA.FILTER);
  // Unlike most numbers in attributes, these have the host's byte order.
  writer.putBytes(FILTER.ORIG_FLAGS, Uint8Array.of(flags, 0, 0, 0));
  writer.endNest(filter);
  if (!unreplied) return;
  writer.putU32(CTA.STATUS, 0);
  writer.putU32(CTA.STATUS_MASK, STATUS_SEEN_REPLY);
}
