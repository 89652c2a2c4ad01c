import {
  CT_DELETE,
  CT_EVENT,
  CTA,
  PROTOINFO,
  PROTOINFO_TCP,
  TUPLE,
  TUPLE_IP,
  TUPLE_PROTO,
} from '../../../src/adapters/conntrack/ctnetlink.js';
import {
  addressBytes,
  familyNumber,
  NLM_F_CREATE,
  NLM_F_REQUEST,
} from '../../../src/adapters/netlink/protocol.js';
import type { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { familyOf as familyOfAddress } from '../../../src/domain/net/ip-family.js';

/** A tracked connection to make out of nothing. */
export interface EntryToMake {
  readonly protocol: 6 | 17;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly endpoint: string;
  readonly endpointPort: number;
  readonly zone?: number;
  /** No packet has come back. */
  readonly unreplied?: boolean;
}

/** An address and a port. */
export type Side = readonly [address: string, port: number];

const CTA_TIMEOUT = 7;
const TCP_ESTABLISHED = 3;
const IPPROTO_TCP = 6;
/** Confirmed, and answered so well that the kernel keeps it. */
const ASSURED = 0x2 | 0x4 | 0x8;
/** Confirmed only, and after the first answer. */
export const [UNANSWERED, ANSWERED] = [0x8, 0x2 | 0x8] as const;

/** Makes the entry, or changes its status. */
export function putEntry(
  writer: MessageWriter,
  entry: EntryToMake,
  status = entry.unreplied ? UNANSWERED : ASSURED,
): void {
  const start = writer.beginMessage(CT_EVENT.new, NLM_F_REQUEST | NLM_F_CREATE, 1);
  writer.putWord(familyOf(entry));
  const client: Side = [entry.source, entry.sourcePort];
  putTuple(writer, CTA.TUPLE_ORIG, entry.protocol, client, [entry.destination, entry.destinationPort]);
  putTuple(writer, CTA.TUPLE_REPLY, entry.protocol, [entry.endpoint, entry.endpointPort], client);
  writer.putU32(CTA.STATUS, status);
  writer.putU32(CTA_TIMEOUT, 3600);
  if (entry.protocol === IPPROTO_TCP) putTcpState(writer, TCP_ESTABLISHED);
  if (entry.zone !== undefined) writer.putBytes(CTA.ZONE, Uint8Array.of(entry.zone >>> 8, entry.zone & 0xff));
  writer.endMessage(start);
}

export function putRemoval(writer: MessageWriter, entry: EntryToMake): void {
  const start = writer.beginMessage(CT_DELETE, NLM_F_REQUEST, 1);
  writer.putWord(familyOf(entry));
  putTuple(
    writer,
    CTA.TUPLE_ORIG,
    entry.protocol,
    [entry.source, entry.sourcePort],
    [entry.destination, entry.destinationPort],
  );
  writer.endMessage(start);
}

export function putTuple(
  writer: MessageWriter,
  type: number,
  protocol: number,
  [source, sourcePort]: Side,
  [destination, destinationPort]: Side,
): void {
  const ipv6 = source.includes(':');
  const tuple = writer.beginNest(type);
  const ip = writer.beginNest(TUPLE.IP);
  writer.putBytes(ipv6 ? TUPLE_IP.V6_SRC : TUPLE_IP.V4_SRC, addressBytes(source));
  writer.putBytes(ipv6 ? TUPLE_IP.V6_DST : TUPLE_IP.V4_DST, addressBytes(destination));
  writer.endNest(ip);
  const proto = writer.beginNest(TUPLE.PROTO);
  writer.putU8(TUPLE_PROTO.NUM, protocol);
  writer.putBytes(TUPLE_PROTO.SRC_PORT, Uint8Array.of(sourcePort >>> 8, sourcePort & 0xff));
  writer.putBytes(TUPLE_PROTO.DST_PORT, Uint8Array.of(destinationPort >>> 8, destinationPort & 0xff));
  writer.endNest(proto);
  writer.endNest(tuple);
}

export function putTcpState(writer: MessageWriter, state: number): void {
  const info = writer.beginNest(CTA.PROTOINFO);
  const tcp = writer.beginNest(PROTOINFO.TCP);
  writer.putU8(PROTOINFO_TCP.STATE, state);
  writer.endNest(tcp);
  writer.endNest(info);
}

function familyOf({ source }: EntryToMake): number {
  return familyNumber(familyOfAddress(source));
}
