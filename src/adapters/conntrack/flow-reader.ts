import type { Flow } from '../../domain/conntrack/flow.js';
import { hostPort } from '../../domain/net/address.js';
import { addressText } from '../netlink/address-bytes.js';
import { AttributeReader } from '../netlink/attribute-reader.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NLA_F_NESTED } from '../netlink/protocol.js';
import { CTA, GENERIC_HEADER_LENGTH, IPPROTO_UDP } from './ctnetlink.js';
import { TupleReader } from './tuple-reader.js';

const NOTHING = Buffer.alloc(0);

/**
 * Reads tracked connections from the messages of a dump, one at a time, and is itself the last one read. Text is made only
 * on demand: most flows are skipped by their port.
 */
export class FlowReader implements Flow {
  private bytes: Buffer = NOTHING;
  private readonly outer = new AttributeReader(NOTHING);
  private readonly original = new TupleReader();
  private readonly replies = new TupleReader();
  /** Offsets in the buffer; -1 for parts that the message lacks. */
  private reply = -1;
  private replyEnd = -1;
  private id = -1;
  private zone = -1;

  /** Returns false if this is not a UDP connection with all required parts. */
  read({ bytes, start, end }: NetlinkMessage): boolean {
    const { original, replies } = this;
    this.bytes = bytes;
    this.reply = this.id = this.zone = -1;
    original.clear();
    replies.clear();
    const outer = this.outer.over(bytes, start + GENERIC_HEADER_LENGTH, end);
    while (outer.next()) {
      if (outer.type === CTA.TUPLE_ORIG) {
        original.read(bytes, outer.start, outer.end);
        if (original.protocol !== IPPROTO_UDP) return false;
      } else if (outer.type === CTA.TUPLE_REPLY) {
        this.reply = outer.start;
        this.replyEnd = outer.end;
        replies.read(bytes, outer.start, outer.end);
      } else if (outer.type === CTA.ID) this.id = outer.start;
      else if (outer.type === CTA.ZONE) this.zone = outer.start;
    }
    return original.complete && replies.complete;
  }

  get destination(): string {
    const { address, addressEnd } = this.original.destination;
    return addressText(this.bytes, address, addressEnd);
  }

  get destinationPort(): number {
    return this.bytes.readUInt16BE(this.original.destination.port);
  }

  get replySource(): string {
    const { address, addressEnd, port } = this.replies.source;
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
}
