import type { Flow } from '../../domain/conntrack/flow.js';
import { hostPort } from '../../domain/net/address.js';
import { addressText } from '../netlink/address-bytes.js';
import { AttributeReader } from '../netlink/attribute-reader.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NLA_F_NESTED } from '../netlink/protocol.js';
import { CTA, GENERIC_HEADER_LENGTH, IPPROTO_UDP, TUPLE, TUPLE_IP, TUPLE_PROTO } from './ctnetlink.js';

const NOTHING = Buffer.alloc(0);

/**
 * Reads tracked connections from the messages of a dump, one at a time, and is itself the last one read. Text is made only
 * on demand: most flows are skipped by their port.
 */
export class FlowReader implements Flow {
  private bytes: Buffer = NOTHING;
  private readonly outer = new AttributeReader(NOTHING);
  private readonly tuple = new AttributeReader(NOTHING);
  private readonly part = new AttributeReader(NOTHING);
  /** Offsets in the buffer; -1 for parts that the message lacks. */
  private reply = -1;
  private replyEnd = -1;
  private id = -1;
  private zone = -1;
  private readonly to = { protocol: 0, address: -1, addressEnd: -1, port: -1 };
  private readonly from = { protocol: 0, address: -1, addressEnd: -1, port: -1 };

  /** Returns false if this is not a UDP connection with all required parts. */
  read({ bytes, start, end }: NetlinkMessage): boolean {
    this.bytes = bytes;
    this.reply = this.id = this.zone = this.to.address = this.from.address = -1;
    this.to.port = this.from.port = -1;
    const outer = this.outer.over(bytes, start + GENERIC_HEADER_LENGTH, end);
    while (outer.next()) {
      if (outer.type === CTA.TUPLE_ORIG) {
        this.readTuple(this.to, TUPLE_IP.V4_DST, TUPLE_IP.V6_DST, TUPLE_PROTO.DST_PORT);
        if (this.to.protocol !== IPPROTO_UDP) return false;
      } else if (outer.type === CTA.TUPLE_REPLY) {
        this.reply = outer.start;
        this.replyEnd = outer.end;
        this.readTuple(this.from, TUPLE_IP.V4_SRC, TUPLE_IP.V6_SRC, TUPLE_PROTO.SRC_PORT);
      } else if (outer.type === CTA.ID) this.id = outer.start;
      else if (outer.type === CTA.ZONE) this.zone = outer.start;
    }
    const { to, from } = this;
    return to.address >= 0 && to.port >= 0 && from.address >= 0 && from.port >= 0;
  }

  get destination(): string {
    return addressText(this.bytes, this.to.address, this.to.addressEnd);
  }

  get destinationPort(): number {
    return this.bytes.readUInt16BE(this.to.port);
  }

  get replySource(): string {
    const { address, addressEnd, port } = this.from;
    return hostPort(addressText(this.bytes, address, addressEnd), this.bytes.readUInt16BE(port));
  }

  /**
   * Writes what identifies this connection, even against one that the same client began again: the kernel finds it by the
   * reply tuple and compares the id, which it derives from the original tuple.
   */
  writeIdentity(writer: MessageWriter): void {
    const { bytes } = this;
    writer.putBytes(CTA.TUPLE_REPLY | NLA_F_NESTED, bytes.subarray(this.reply, this.replyEnd));
    if (this.zone >= 0) writer.putBytes(CTA.ZONE, bytes.subarray(this.zone, this.zone + 2));
    if (this.id >= 0) writer.putBytes(CTA.ID, bytes.subarray(this.id, this.id + 4));
  }

  private readTuple(side: FlowReader['to'], ipv4: number, ipv6: number, port: number): void {
    const tuple = this.tuple.over(this.bytes, this.outer.start, this.outer.end);
    while (tuple.next()) {
      const part = this.part.over(this.bytes, tuple.start, tuple.end);
      if (tuple.type === TUPLE.IP)
        while (part.next()) {
          if (part.type !== ipv4 && part.type !== ipv6) continue;
          side.address = part.start;
          side.addressEnd = part.end;
        }
      else if (tuple.type === TUPLE.PROTO)
        while (part.next()) {
          if (part.type === TUPLE_PROTO.NUM) side.protocol = part.number();
          else if (part.type === port) side.port = part.start;
        }
    }
  }
}
