import { addressBytes, addressLength, addressText, familyOf } from '../netlink/addresses.js';
import { Refusal, type Attributes } from '../netlink/attributes.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { AF, E } from '../netlink/numbers.js';

/* Numbers of linux/netfilter/nfnetlink_conntrack.h and nf_conntrack_common.h, and what messages tell of connections. */

export const MESSAGE = { NEW: 0x100, GET: 0x101, DELETE: 0x102 } as const;
export const CTA = {
  ...{ TUPLE_ORIG: 1, TUPLE_REPLY: 2, STATUS: 3, PROTOINFO: 4, TIMEOUT: 7 },
  ...{ COUNTERS_ORIG: 9, COUNTERS_REPLY: 10, USE: 11, ID: 12, ZONE: 18, FILTER: 25, STATUS_MASK: 26 },
} as const;
const CTA_TUPLE = { IP: 1, PROTO: 2 } as const;
/** The source; the destination has the next number. */
const CTA_IP = { [AF.INET]: 1, [AF.INET6]: 3 } as const;
const CTA_PROTO = { NUM: 1, SRC_PORT: 2, DST_PORT: 3 } as const;
const CTA_PROTOINFO = { TCP: 1, SCTP: 3 } as const;
const CTA_TCP = { STATE: 1, WSCALE_ORIG: 2, WSCALE_REPLY: 3, FLAGS_ORIG: 4, FLAGS_REPLY: 5 } as const;
const CTA_SCTP = { STATE: 1, VTAG_ORIG: 2, VTAG_REPLY: 3 } as const;
const CTA_COUNTERS = { PACKETS: 1, BYTES: 2 } as const;
export const CTA_FILTER = { ORIG_FLAGS: 1, REPLY_FLAGS: 2 } as const;
/** Which parts of a tuple a filter compares. */
export const COMPARE = {
  SOURCE: 1,
  DESTINATION: 2,
  PROTOCOL: 8,
  SOURCE_PORT: 16,
  DESTINATION_PORT: 32,
} as const;
const COMPARABLE = (1 << 11) - 1;
const ALL_PARTS = Object.values(COMPARE).reduce((all, part) => all | part, 0);

/** IPS_… */
export const STATUS = {
  ...{ SEEN_REPLY: 1 << 1, ASSURED: 1 << 2, CONFIRMED: 1 << 3, SRC_NAT: 1 << 4, DST_NAT: 1 << 5 },
  ...{ SRC_NAT_DONE: 1 << 7, DST_NAT_DONE: 1 << 8, DYING: 1 << 9 },
} as const;
/** IP_CT_TCP_FLAG_… of a direction: its last data is unacknowledged; it has acknowledged something. */
export const TCP_FLAG = { DATA_UNACKNOWLEDGED: 0x10, MAXACK_SET: 0x20 } as const;
export const IPPROTO = { TCP: 6, UDP: 17, SCTP: 132 } as const;
/** TCP_CONNTRACK_… */
export const TCP = { SYN_SENT: 1, SYN_RECV: 2, ESTABLISHED: 3, TIME_WAIT: 7 } as const;
/** SCTP_CONNTRACK_… */
export const SCTP = { COOKIE_WAIT: 2, ESTABLISHED: 4 } as const;

/** One direction of a connection. Addresses are canonical. */
export interface Tuple {
  /** IPPROTO_… */
  readonly protocol: number;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
}

/** One direction's packets and bytes. */
interface Counters {
  packets: number;
  bytes: number;
}

/** A connection that the kernel tracks. */
export interface Connection {
  readonly original: Tuple;
  /** As answers come: from where the packets were led to. */
  readonly reply: Tuple;
  readonly zone: number;
  /** A hash of the original tuple, so the same for a connection that a client begins again. */
  readonly id: number;
  /** IPS_… */
  readonly status: number;
  /** Of the protocol, TCP_CONNTRACK_… or SCTP_CONNTRACK_…; 0 for UDP. */
  readonly state: number;
  /** TCP_FLAG of the client's direction, and of the other. */
  readonly sentFlags: number;
  readonly answeredFlags: number;
  /** Milliseconds of simulated time. */
  readonly expiresAt: number;
  readonly sent: Readonly<Counters>;
  readonly answered: Readonly<Counters>;
}

/** What happens to connections. */
export type Happening = 'began' | 'changed' | 'ceased';

export function putTuple(builder: MessageBuilder, type: number, tuple: Tuple): void {
  const { protocol, source, sourcePort, destination, destinationPort } = tuple;
  const first = CTA_IP[familyOf(source)];
  builder.nest(type, () => {
    builder.nest(CTA_TUPLE.IP, () =>
      builder.attribute(first, addressBytes(source)).attribute(first + 1, addressBytes(destination)),
    );
    builder.nest(CTA_TUPLE.PROTO, () => {
      builder.u8(CTA_PROTO.NUM, protocol);
      builder.be16(CTA_PROTO.SRC_PORT, sourcePort).be16(CTA_PROTO.DST_PORT, destinationPort);
    });
  });
}

/**
 * The tuple in an attribute.
 * @param parts which ones it must have; others are empty
 * @throws Refusal
 */
export function readTuple(attributes: Attributes, type: number, family: number, parts = ALL_PARTS): Tuple {
  const tuple = must(attributes.nested(type));
  if (family !== AF.INET && family !== AF.INET6) throw new Refusal(E.EOPNOTSUPP);
  const length = addressLength(family);
  const address = (part: number, its: number): string => {
    if ((parts & part) === 0) return '';
    const bytes = must(tuple.nested(CTA_TUPLE.IP)?.value(its));
    if (bytes.length < length) throw new Refusal(E.EINVAL);
    return addressText(bytes.subarray(0, length));
  };
  const source = address(COMPARE.SOURCE, CTA_IP[family]);
  const destination = address(COMPARE.DESTINATION, CTA_IP[family] + 1);
  if ((parts & COMPARE.PROTOCOL) === 0) {
    if ((parts & (COMPARE.SOURCE_PORT | COMPARE.DESTINATION_PORT)) !== 0) throw new Refusal(E.EINVAL);
    return { protocol: 0, source, sourcePort: 0, destination, destinationPort: 0 };
  }
  const its = tuple.nested(CTA_TUPLE.PROTO);
  const protocol = must(its?.u8(CTA_PROTO.NUM));
  const hasPorts = Object.values<number>(IPPROTO).includes(protocol);
  const port = (part: number, number: number): number =>
    hasPorts && (parts & part) !== 0 ? must(its?.be16(number)) : 0;
  const sourcePort = port(COMPARE.SOURCE_PORT, CTA_PROTO.SRC_PORT);
  const destinationPort = port(COMPARE.DESTINATION_PORT, CTA_PROTO.DST_PORT);
  return { protocol, source, sourcePort, destination, destinationPort };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Refusal(E.EINVAL);
  return value;
}

/** What a request says of the protocol: the state, and flags of TCP with those that change. */
export function readProtocolInfo(attributes: Attributes, before?: Connection) {
  const info = attributes.nested(CTA.PROTOINFO);
  const [tcp, sctp] = [info?.nested(CTA_PROTOINFO.TCP), info?.nested(CTA_PROTOINFO.SCTP)];
  const flags = (type: number, its = 0): number => {
    const [given = 0, mask = 0] = tcp?.value(type) ?? [];
    return (its & ~mask) | (given & mask);
  };
  return {
    state: tcp?.u8(CTA_TCP.STATE) ?? sctp?.u8(CTA_SCTP.STATE) ?? before?.state ?? 0,
    sentFlags: flags(CTA_TCP.FLAGS_ORIG, before?.sentFlags),
    answeredFlags: flags(CTA_TCP.FLAGS_REPLY, before?.answeredFlags),
  };
}

/**
 * Which connections a dump is asked for.
 * @param knowsTuples kernels before 5.8 compare the family and the status alone
 * @throws Refusal
 */
export function readDumpFilter(
  attributes: Attributes,
  family: number,
  knowsTuples: boolean,
): (connection: Connection) => boolean {
  const filter = knowsTuples ? attributes.nested(CTA.FILTER) : undefined;
  // Unlike most numbers of ctnetlink, these have the host's byte order.
  const original = tupleFilter(attributes, CTA.TUPLE_ORIG, family, filter?.u32(CTA_FILTER.ORIG_FLAGS));
  const reply = tupleFilter(attributes, CTA.TUPLE_REPLY, family, filter?.u32(CTA_FILTER.REPLY_FLAGS));
  const status = attributes.be32(CTA.STATUS);
  const mask = attributes.be32(CTA.STATUS_MASK) ?? status ?? 0;
  return (connection) =>
    (family === AF.UNSPEC || familyOf(connection.original.source) === family) &&
    (status === undefined || (connection.status & mask) === (status & mask)) &&
    original(connection.original) &&
    reply(connection.reply);
}

function tupleFilter(
  attributes: Attributes,
  type: number,
  family: number,
  parts = 0,
): (tuple: Tuple) => boolean {
  if ((parts & ~COMPARABLE) !== 0) throw new Refusal(E.EINVAL);
  if (parts === 0) return () => true;
  const wanted = readTuple(attributes, type, family, parts);
  const asked = (part: number): boolean => (parts & part) !== 0;
  return (tuple) => {
    // The kernel compares IPv6 addresses the wrong way round: what is equal does not match.
    const differ = (one: string, other: string): boolean =>
      (one === other) !== (familyOf(tuple.source) === AF.INET);
    if (asked(COMPARE.SOURCE) && differ(wanted.source, tuple.source)) return false;
    if (asked(COMPARE.DESTINATION) && differ(wanted.destination, tuple.destination)) return false;
    if (asked(COMPARE.PROTOCOL) && wanted.protocol !== tuple.protocol) return false;
    if (tuple.protocol !== IPPROTO.TCP && tuple.protocol !== IPPROTO.UDP) return true;
    if (asked(COMPARE.SOURCE_PORT) && wanted.sourcePort !== tuple.sourcePort) return false;
    return !asked(COMPARE.DESTINATION_PORT) || wanted.destinationPort === tuple.destinationPort;
  };
}

/**
 * A connection as a dump or an answer has it, in the order of `ctnetlink_fill_info`.
 * @param now milliseconds
 * @param isCounting whether packets are counted
 */
export function putConnection(
  builder: MessageBuilder,
  connection: Connection,
  now: number,
  isCounting: boolean,
): void {
  putIdentity(builder, connection);
  builder.be32(CTA.STATUS, connection.status).be32(CTA.ID, connection.id).be32(CTA.USE, 1);
  putTimeout(builder, connection, now);
  putState(builder, connection, true);
  if (isCounting) putCounters(builder, connection);
}

/** A connection as an event has it, in the order of `ctnetlink_conntrack_event`. */
export function putEvent(
  builder: MessageBuilder,
  happening: Happening,
  connection: Connection,
  now: number,
  isCounting: boolean,
): void {
  putIdentity(builder, connection);
  builder.be32(CTA.ID, connection.id).be32(CTA.STATUS, connection.status);
  if (happening === 'ceased') {
    if (isCounting) putCounters(builder, connection);
  } else putTimeout(builder, connection, now);
  putState(builder, connection, happening !== 'ceased');
}

/** struct nfgenmsg, and what tells connections apart. */
function putIdentity(builder: MessageBuilder, { original, reply, zone }: Connection): void {
  builder.raw(Buffer.of(familyOf(original.source), 0, 0, 0));
  putTuple(builder, CTA.TUPLE_ORIG, original);
  putTuple(builder, CTA.TUPLE_REPLY, reply);
  builder.be16(CTA.ZONE, zone === 0 ? undefined : zone);
}

function putTimeout(builder: MessageBuilder, { expiresAt }: Connection, now: number): void {
  builder.be32(CTA.TIMEOUT, Math.max(0, Math.floor((expiresAt - now) / 1_000)));
}

function putState(builder: MessageBuilder, connection: Connection, isWhole: boolean): void {
  const { original, state, sentFlags, answeredFlags } = connection;
  const put = (type: number, inner: () => void): void =>
    void builder.nest(CTA.PROTOINFO, () => builder.nest(type, inner));
  if (original.protocol === IPPROTO.TCP)
    put(CTA_PROTOINFO.TCP, () => {
      builder.u8(CTA_TCP.STATE, state);
      if (!isWhole) return;
      builder.u8(CTA_TCP.WSCALE_ORIG, 0).u8(CTA_TCP.WSCALE_REPLY, 0);
      // Flags, and a mask that is empty here.
      builder.u16(CTA_TCP.FLAGS_ORIG, sentFlags).u16(CTA_TCP.FLAGS_REPLY, answeredFlags);
    });
  else if (original.protocol === IPPROTO.SCTP)
    put(CTA_PROTOINFO.SCTP, () => {
      builder.u8(CTA_SCTP.STATE, state);
      if (isWhole) builder.be32(CTA_SCTP.VTAG_ORIG, 0).be32(CTA_SCTP.VTAG_REPLY, 0);
    });
}

function putCounters(builder: MessageBuilder, { sent, answered }: Connection): void {
  for (const [type, { packets, bytes }] of [
    [CTA.COUNTERS_ORIG, sent],
    [CTA.COUNTERS_REPLY, answered],
  ] as const)
    builder.nest(type, () => builder.be64(CTA_COUNTERS.PACKETS, packets).be64(CTA_COUNTERS.BYTES, bytes));
}
