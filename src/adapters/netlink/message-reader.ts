/** Reads netlink messages and their attributes. */

import { NetlinkProtocolError } from './errors.js';
import {
  align,
  HEADER_LENGTH,
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLM_F_DUMP_INTR,
  NLMSG_DONE,
  NLMSG_ERROR,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
  NLA_TYPE_MASK,
} from './protocol.js';

/** One message in a received datagram. The buffer belongs to the socket and is overwritten by the next datagram. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly bytes: Buffer;
  /** The payload's position in the buffer. */
  readonly start: number;
  readonly end: number;
}

/** The kernel's reply to a message. */
export interface KernelReply {
  /** Of the message. */
  readonly sequence: number;
  /** 0 for an acknowledgement. */
  readonly errno: number;
  /** The kernel's explanation, if it gives one. */
  readonly explanation?: string;
  /** The offending attribute, in bytes from the start of the message. */
  readonly offset?: number;
  /** At the end of a dump: the dumped objects changed meanwhile. */
  readonly interrupted?: boolean;
}

/** The messages of a datagram. */
export function* readMessages(bytes: Buffer, length: number): Generator<NetlinkMessage> {
  for (let at = 0; at + HEADER_LENGTH <= length;) {
    const size = bytes.readUInt32LE(at);
    if (size < HEADER_LENGTH || at + size > length) {
      throw new NetlinkProtocolError(`a message of ${size} bytes where ${length - at} are left`);
    }
    yield {
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      bytes,
      start: at + HEADER_LENGTH,
      end: at + size,
    };
    at += align(size);
  }
}

/** Reads an error message, or the end of a dump. Undefined for other messages. */
export function readReply({
  type,
  flags,
  sequence,
  bytes,
  start,
  end,
}: NetlinkMessage): KernelReply | undefined {
  if (type === NLMSG_DONE) {
    const errno = end - start >= 4 ? Math.max(0, -bytes.readInt32LE(start)) : 0;
    return { sequence, errno, ...((flags & NLM_F_DUMP_INTR) !== 0 && { interrupted: true }) };
  }
  if (type !== NLMSG_ERROR) return undefined;
  if (end - start < 4 + HEADER_LENGTH) throw new NetlinkProtocolError('an error message cut short');
  const errno = Math.abs(bytes.readInt32LE(start));
  if ((flags & NLM_F_ACK_TLVS) === 0) return { sequence, errno };
  const echoed = (flags & NLM_F_CAPPED) === 0 && errno !== 0 ? bytes.readUInt32LE(start + 4) : HEADER_LENGTH;
  const attributes = new AttributeReader(bytes, start + 4 + align(echoed), end);
  let explanation: string | undefined;
  let offset: number | undefined;
  while (attributes.next()) {
    if (attributes.type === NLMSGERR_ATTR_MSG) explanation = attributes.text();
    else if (attributes.type === NLMSGERR_ATTR_OFFS) offset = bytes.readUInt32LE(attributes.start);
  }
  return {
    sequence,
    errno,
    ...(explanation !== undefined && { explanation }),
    ...(offset !== undefined && { offset }),
  };
}

/**
 * Walks the attributes between two positions of a buffer. `next` moves to the following one; `type`, `start` and `end`
 * then describe it. `over` moves a reader to another range, so that a large dump allocates no reader per element.
 */
export class AttributeReader {
  type = 0;
  /** Where the value begins, and where it ends. */
  start = 0;
  end = 0;
  private following = 0;
  private limit = 0;

  constructor(
    private bytes: Buffer,
    from = 0,
    to = bytes.length,
  ) {
    this.following = from;
    this.limit = to;
  }

  over(bytes: Buffer, from: number, to: number): this {
    this.bytes = bytes;
    this.following = from;
    this.limit = to;
    return this;
  }

  next(): boolean {
    const at = this.following;
    if (at + 4 > this.limit) return false;
    const { bytes } = this;
    const length = bytes[at]! | (bytes[at + 1]! << 8);
    if (length < 4 || at + length > this.limit) {
      throw new NetlinkProtocolError(`an attribute of ${length} bytes where ${this.limit - at} are left`);
    }
    this.type = (bytes[at + 2]! | (bytes[at + 3]! << 8)) & NLA_TYPE_MASK;
    this.start = at + 4;
    this.end = at + length;
    this.following = at + align(length);
    return true;
  }

  /** A reader that stays at this attribute while this one moves on. */
  copy(): AttributeReader {
    const copy = new AttributeReader(this.bytes, this.following, this.limit);
    copy.type = this.type;
    copy.start = this.start;
    copy.end = this.end;
    return copy;
  }

  /** A reader of the attributes inside this one. */
  nested(): AttributeReader {
    return new AttributeReader(this.bytes, this.start, this.end);
  }

  /** The value as a number in network byte order of one, two, four or eight bytes. */
  number(): number {
    const { bytes, start, end } = this;
    switch (end - start) {
      case 1:
        return bytes[start]!;
      case 2:
        return bytes.readUInt16BE(start);
      case 4:
        return bytes.readUInt32BE(start);
      case 8:
        return bytes.readUInt32BE(start) * 0x1_0000_0000 + bytes.readUInt32BE(start + 4);
      default:
        throw new NetlinkProtocolError(`a number of ${end - start} bytes in attribute ${this.type}`);
    }
  }

  /** The value as a number in the host's byte order of one, two or four bytes. */
  hostNumber(): number {
    const { bytes, start, end } = this;
    const length = end - start;
    if (length === 1 || length === 2 || length === 4) return bytes.readUIntLE(start, length);
    throw new NetlinkProtocolError(`a number of ${length} bytes in attribute ${this.type}`);
  }

  /** The value as text, without the closing NUL. */
  text(): string {
    const { bytes, start, end } = this;
    return bytes.toString('utf8', start, end > start && bytes[end - 1] === 0 ? end - 1 : end);
  }

  /** The value itself: a view, valid as long as the buffer. */
  value(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }
}
