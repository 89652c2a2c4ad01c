import type { ClientFlow, ConnectionActivity, SeenFlow } from '../../domain/conntrack/flow.js';
import type { FlowPlace } from '../../domain/conntrack/frontend-map.js';
import { protocolOfNumber, type Protocol } from '../../domain/model/service-port-name.js';
import { hostPort } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { flowHash, inSample } from '../../domain/traffic/sample.js';
import { AttributeReader, type NetlinkMessage } from '../netlink/message-reader.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { addressText, NLA_F_NESTED } from '../netlink/protocol.js';
import {
  COUNTERS,
  CTA,
  GENERIC_HEADER_LENGTH,
  PROTOINFO,
  PROTOINFO_SCTP,
  PROTOINFO_TCP,
  SCTP_CLOSED,
  STATUS_OFFLOADED,
  STATUS_SEEN_REPLY,
  TCP_CLOSE,
  TCP_DATA_UNACKNOWLEDGED,
  TCP_MAXACK_SET,
  TCP_TIME_WAIT,
  TUPLE,
  TUPLE_IP,
  TUPLE_PROTO,
} from './ctnetlink.js';

const NOTHING = Buffer.alloc(0);
const IPV4_LENGTH = 4;

/**
 * Reads tracked connections from events and dumps, one at a time, and is itself the last one read. Those that are not wanted are
 * given up after their first tuple; text is made only on demand.
 */
export class FlowReader implements SeenFlow, ClientFlow, ConnectionActivity {
  hash = 0;
  client = 0;
  protocol: Protocol = 'TCP';
  replied = false;
  closed = false;
  /** Forwarded past connection tracking. */
  offloaded = false;
  bytes: number | undefined;
  /** Packets of the client, and of the endpoint; undefined if the kernel does not count them, or does not say. */
  packetsSent: number | undefined;
  packetsAnswered: number | undefined;
  /** Bytes of the client's packets. */
  bytesSent: number | undefined;
  private buffer: Buffer = NOTHING;
  private kernelId = 0;
  /** Of a TCP connection, of each direction. */
  private originalFlags = 0;
  private replyFlags = 0;
  /** Offsets in the buffer; -1 for parts that the message lacks. */
  private reply = -1;
  private replyEnd = -1;
  private idAt = -1;
  private zone = -1;
  private readonly outer = new AttributeReader(NOTHING);
  private readonly inner = new AttributeReader(NOTHING);
  private readonly innermost = new AttributeReader(NOTHING);
  private readonly original = new TupleReader();
  private readonly replies = new TupleReader();

  /**
   * Returns false if this is not a connection with all required parts that is wanted.
   * @param shift one of the sample of one in 2^shift
   * @param only one of this protocol
   */
  read({ bytes, start, end }: NetlinkMessage, shift: number, only?: Protocol): boolean {
    const { original, replies } = this;
    this.buffer = bytes;
    this.replied = this.closed = this.offloaded = false;
    this.bytes = this.bytesSent = this.packetsSent = this.packetsAnswered = undefined;
    this.kernelId = this.originalFlags = this.replyFlags = 0;
    this.idAt = this.zone = -1;
    original.clear();
    replies.clear();
    const outer = this.outer.over(bytes, start + GENERIC_HEADER_LENGTH, end);
    while (outer.next()) {
      switch (outer.type) {
        case CTA.TUPLE_ORIG:
          original.read(bytes, outer.start, outer.end);
          if (!this.isWanted(shift, only)) return false;
          break;
        case CTA.TUPLE_REPLY:
          this.reply = outer.start;
          this.replyEnd = outer.end;
          replies.read(bytes, outer.start, outer.end);
          break;
        case CTA.STATUS:
          this.readStatus(outer.number());
          break;
        case CTA.PROTOINFO:
          this.readState();
          break;
        case CTA.COUNTERS_ORIG:
          this.packetsSent = this.readCounters();
          // The kernel writes this direction first.
          this.bytesSent = this.bytes;
          break;
        case CTA.COUNTERS_REPLY:
          this.packetsAnswered = this.readCounters();
          break;
        case CTA.ID:
          this.idAt = outer.start;
          this.kernelId = outer.number();
          break;
        case CTA.ZONE:
          this.zone = outer.start;
          break;
      }
    }
    return original.complete && replies.complete;
  }

  get sent(): boolean {
    return (this.originalFlags & TCP_MAXACK_SET) !== 0;
  }

  get answered(): boolean {
    return (this.replyFlags & TCP_MAXACK_SET) !== 0;
  }

  get unacknowledged(): boolean {
    return (this.originalFlags & TCP_DATA_UNACKNOWLEDGED) !== 0;
  }

  /** The kernel's own is a hash; with the client's port no two are the same by accident. */
  get id(): number {
    return this.kernelId * 0x1_0000 + this.portOf(this.original.source);
  }

  get family(): IpFamily {
    const { address, addressEnd } = this.original.destination;
    return addressEnd - address === IPV4_LENGTH ? 'IPv4' : 'IPv6';
  }

  get destination(): string {
    return this.addressOf(this.original.destination);
  }

  get destinationPort(): number {
    return this.portOf(this.original.destination);
  }

  get source(): string {
    return this.addressOf(this.original.source);
  }

  get isMasqueraded(): boolean {
    const { buffer } = this;
    const [sent, seen] = [this.original.source, this.replies.destination];
    return buffer.compare(buffer, seen.address, seen.addressEnd, sent.address, sent.addressEnd) !== 0;
  }

  get endpoint(): Required<FlowPlace> {
    const { source } = this.replies;
    return { address: this.addressOf(source), port: this.portOf(source) };
  }

  get replySource(): string {
    const { address, port } = this.endpoint;
    return hostPort(address, port);
  }

  /**
   * Writes what identifies this connection, even against one that the same client began again: the kernel finds it by the
   * reply tuple and compares the id, which it derives from the original tuple.
   */
  writeIdentity(writer: MessageWriter): void {
    const { buffer } = this;
    writer.putBytes(CTA.TUPLE_REPLY | NLA_F_NESTED, buffer.subarray(this.reply, this.replyEnd));
    if (this.zone >= 0) writer.putBytes(CTA.ZONE, buffer.subarray(this.zone, this.zone + 2));
    if (this.idAt >= 0) writer.putBytes(CTA.ID, buffer.subarray(this.idAt, this.idAt + 4));
  }

  private isWanted(shift: number, only: Protocol | undefined): boolean {
    const { original } = this;
    const protocol = protocolOfNumber(original.protocol);
    if (protocol === undefined || !original.complete) return false;
    if (only !== undefined && protocol !== only) return false;
    const { source } = original;
    this.protocol = protocol;
    this.client = this.buffer.readUInt32BE(source.addressEnd - IPV4_LENGTH);
    this.hash = flowHash(this.client, this.portOf(source));
    return inSample(this.hash, shift);
  }

  private readStatus(status: number): void {
    this.replied = (status & STATUS_SEEN_REPLY) !== 0;
    this.offloaded = (status & STATUS_OFFLOADED) !== 0;
  }

  private readState(): void {
    const { outer, inner, innermost, buffer } = this;
    inner.over(buffer, outer.start, outer.end);
    while (inner.next()) {
      if (inner.type !== PROTOINFO.TCP && inner.type !== PROTOINFO.SCTP) continue;
      innermost.over(buffer, inner.start, inner.end);
      while (innermost.next()) {
        if (inner.type === PROTOINFO.SCTP) {
          if (innermost.type === PROTOINFO_SCTP.STATE) this.closed = innermost.number() === SCTP_CLOSED;
        } else if (innermost.type === PROTOINFO_TCP.STATE) {
          const state = innermost.number();
          this.closed = state === TCP_TIME_WAIT || state === TCP_CLOSE;
        } else if (innermost.type === PROTOINFO_TCP.FLAGS_ORIGINAL)
          this.originalFlags = buffer[innermost.start]!;
        else if (innermost.type === PROTOINFO_TCP.FLAGS_REPLY) this.replyFlags = buffer[innermost.start]!;
      }
    }
  }

  /** Adds the bytes of one direction; returns its packets. */
  private readCounters(): number | undefined {
    const { outer, inner, buffer } = this;
    let packets: number | undefined;
    inner.over(buffer, outer.start, outer.end);
    while (inner.next())
      if (inner.type === COUNTERS.BYTES) this.bytes = (this.bytes ?? 0) + inner.number();
      else if (inner.type === COUNTERS.PACKETS) packets = inner.number();
    return packets;
  }

  private addressOf({ address, addressEnd }: TupleSide): string {
    return addressText(this.buffer, address, addressEnd);
  }

  private portOf({ port }: TupleSide): number {
    return this.buffer.readUInt16BE(port);
  }
}

/** Offsets of one side of a tuple in the buffer; -1 for parts that it lacks. */
interface TupleSide {
  address: number;
  addressEnd: number;
  port: number;
}

/** Reads tuples, the addresses and ports of one direction of a tracked connection, and is itself the last one read. */
class TupleReader {
  /** 0 if it lacks one. */
  protocol = 0;
  readonly source: TupleSide = { address: -1, addressEnd: -1, port: -1 };
  readonly destination: TupleSide = { address: -1, addressEnd: -1, port: -1 };
  private readonly parts = new AttributeReader(Buffer.alloc(0));
  private readonly part = new AttributeReader(Buffer.alloc(0));

  /** It has both addresses and both ports. */
  get complete(): boolean {
    const { source, destination } = this;
    return source.address >= 0 && destination.address >= 0 && source.port >= 0 && destination.port >= 0;
  }

  clear(): void {
    const { source, destination } = this;
    this.protocol = 0;
    source.address = source.port = destination.address = destination.port = -1;
  }

  read(bytes: Buffer, start: number, end: number): void {
    this.clear();
    const { source, destination } = this;
    const parts = this.parts.over(bytes, start, end);
    while (parts.next()) {
      const part = this.part.over(bytes, parts.start, parts.end);
      if (parts.type === TUPLE.IP)
        while (part.next()) {
          const isSource = part.type === TUPLE_IP.V4_SRC || part.type === TUPLE_IP.V6_SRC;
          const side = isSource ? source : destination;
          side.address = part.start;
          side.addressEnd = part.end;
        }
      else if (parts.type === TUPLE.PROTO)
        while (part.next()) {
          if (part.type === TUPLE_PROTO.NUM) this.protocol = part.number();
          else if (part.type === TUPLE_PROTO.SRC_PORT) source.port = part.start;
          else if (part.type === TUPLE_PROTO.DST_PORT) destination.port = part.start;
        }
    }
  }
}
