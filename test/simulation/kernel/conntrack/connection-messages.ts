import { familyOf } from '../netlink/addresses.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import type { Connection, Counters } from './connection.js';
import type { Happening } from './connections.js';
import { CTA, CTA_COUNTERS, CTA_PROTOINFO, CTA_SCTP, CTA_TCP, CTA_TIMESTAMP, IPPROTO } from './ctnetlink.js';
import { putTuple } from './tuple.js';

/** What decides about the contents of messages. */
export interface MessageContext {
  /** Milliseconds. */
  readonly now: number;
  readonly countsPackets: boolean;
  readonly keepsTimes: boolean;
}

/** A connection as a dump or an answer has it, in the order of `ctnetlink_fill_info`. */
export function putConnection(
  builder: MessageBuilder,
  connection: Connection,
  context: MessageContext,
): void {
  putIdentity(builder, connection);
  builder.be32(CTA.STATUS, connection.status).be32(CTA.MARK, connection.mark);
  builder.be32(CTA.ID, connection.id).be32(CTA.USE, 1);
  putTimeout(builder, connection, context);
  putState(builder, connection, true);
  putCounters(builder, connection, context);
  putTimes(builder, connection, context, 0);
}

/** A connection as an event has it, in the order of `ctnetlink_conntrack_event`. */
export function putEvent(
  builder: MessageBuilder,
  happening: Happening,
  connection: Connection,
  context: MessageContext,
): void {
  putIdentity(builder, connection);
  builder.be32(CTA.ID, connection.id).be32(CTA.STATUS, connection.status);
  if (happening === 'ceased') {
    putCounters(builder, connection, context);
    putTimes(builder, connection, context, context.now);
    putState(builder, connection, false);
  } else {
    putTimeout(builder, connection, context);
    putState(builder, connection, true);
  }
  if (connection.mark !== 0) builder.be32(CTA.MARK, connection.mark);
}

/** struct nfgenmsg */
function familyHeader(family: number): Buffer {
  return Buffer.of(family, 0, 0, 0);
}

function putIdentity(builder: MessageBuilder, { original, reply, zone }: Connection): void {
  builder.raw(familyHeader(familyOf(original.source)));
  putTuple(builder, CTA.TUPLE_ORIG, original);
  putTuple(builder, CTA.TUPLE_REPLY, reply);
  if (zone !== 0) builder.be16(CTA.ZONE, zone);
}

function putTimeout(builder: MessageBuilder, { expiresAt }: Connection, { now }: MessageContext): void {
  builder.be32(CTA.TIMEOUT, Math.max(0, Math.floor((expiresAt - now) / 1_000)));
}

function putState(
  builder: MessageBuilder,
  { original: { protocol }, state, sentFlags, answeredFlags }: Connection,
  isWhole: boolean,
): void {
  if (protocol === IPPROTO.TCP)
    builder.nest(CTA.PROTOINFO, () =>
      builder.nest(CTA_PROTOINFO.TCP, () => {
        builder.u8(CTA_TCP.STATE, state);
        if (!isWhole) return;
        builder.u8(CTA_TCP.WSCALE_ORIG, 0).u8(CTA_TCP.WSCALE_REPLY, 0);
        // Flags, and a mask that is empty here.
        builder.u16(CTA_TCP.FLAGS_ORIG, sentFlags).u16(CTA_TCP.FLAGS_REPLY, answeredFlags);
      }),
    );
  else if (protocol === IPPROTO.SCTP)
    builder.nest(CTA.PROTOINFO, () =>
      builder.nest(CTA_PROTOINFO.SCTP, () => {
        builder.u8(CTA_SCTP.STATE, state);
        if (isWhole) builder.be32(CTA_SCTP.VTAG_ORIG, 0).be32(CTA_SCTP.VTAG_REPLY, 0);
      }),
    );
}

function putCounters(
  builder: MessageBuilder,
  { sent, answered }: Connection,
  { countsPackets }: MessageContext,
): void {
  if (!countsPackets) return;
  const put = (type: number, { packets, bytes }: Counters): void => {
    builder.nest(type, () => builder.be64(CTA_COUNTERS.PACKETS, packets).be64(CTA_COUNTERS.BYTES, bytes));
  };
  put(CTA.COUNTERS_ORIG, sent);
  put(CTA.COUNTERS_REPLY, answered);
}

/** @param stoppedAt 0 while it lasts */
function putTimes(
  builder: MessageBuilder,
  { startedAt }: Connection,
  { keepsTimes }: MessageContext,
  stoppedAt: number,
): void {
  if (!keepsTimes) return;
  builder.nest(CTA.TIMESTAMP, () => {
    putNanoseconds(builder, CTA_TIMESTAMP.START, startedAt);
    if (stoppedAt !== 0) putNanoseconds(builder, CTA_TIMESTAMP.STOP, stoppedAt);
  });
}

function putNanoseconds(builder: MessageBuilder, type: number, milliseconds: number): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(milliseconds) * 1_000_000n);
  builder.attribute(type, bytes);
}
