import { NetlinkProtocolError } from './errors.js';
import { align, NLA_TYPE_MASK } from './protocol.js';

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
