import { aligned, HEADER, NLA } from './numbers.js';

/** Builds messages, one after the other in one datagram. An attribute whose value is undefined is left out. */
export class MessageBuilder {
  private bytes = Buffer.alloc(4096);
  private used = 0;
  private message = 0;

  get length(): number {
    return this.used;
  }

  begin(type: number, flags: number, sequence: number, port: number): this {
    this.message = this.used;
    const at = this.grow(HEADER);
    const { bytes } = this;
    bytes.writeUInt16LE(type, at + 4);
    bytes.writeUInt16LE(flags, at + 6);
    bytes.writeUInt32LE(sequence >>> 0, at + 8);
    bytes.writeUInt32LE(port, at + 12);
    return this;
  }

  /** Ends the message that was begun last. */
  end(): this {
    this.bytes.writeUInt32LE(this.used - this.message, this.message);
    return this;
  }

  /** More flags for the message that was begun last. */
  flag(flags: number): void {
    const at = this.message + 6;
    this.bytes.writeUInt16LE(this.bytes.readUInt16LE(at) | flags, at);
  }

  /** Bytes that are no attribute. */
  raw(value: Uint8Array): this {
    const at = this.grow(aligned(value.length));
    this.bytes.set(value, at);
    return this;
  }

  attribute(type: number, value: Uint8Array | undefined): this {
    if (!value) return this;
    // The buffer may be another one behind the header.
    const at = this.header(type, value.length);
    this.bytes.set(value, at);
    return this;
  }

  u8(type: number, value: number | undefined): this {
    return this.number(type, value, 1, (its, at) => (this.bytes[at] = its));
  }

  u16(type: number, value: number | undefined): this {
    return this.number(type, value, 2, (its, at) => this.bytes.writeUInt16LE(its, at));
  }

  u32(type: number, value: number | undefined): this {
    return this.number(type, value, 4, (its, at) => this.bytes.writeUInt32LE(its >>> 0, at));
  }

  /** In network byte order, as the next ones. */
  be16(type: number, value: number | undefined): this {
    return this.number(type, value, 2, (its, at) => this.bytes.writeUInt16BE(its, at));
  }

  be32(type: number, value: number | undefined): this {
    return this.number(type, value, 4, (its, at) => this.bytes.writeUInt32BE(its >>> 0, at));
  }

  be64(type: number, value: number | bigint | undefined): this {
    return this.number(type, value, 8, (its, at) => this.bytes.writeBigUInt64BE(BigInt(its), at));
  }

  /** With a zero byte at its end. */
  text(type: number, value: string | undefined): this {
    return this.attribute(type, value === undefined ? undefined : Buffer.from(`${value}\0`, 'latin1'));
  }

  /** Attributes in one that is marked as such, as programs and some parts of the kernel do. */
  nest(type: number, inner: (builder: this) => void): this {
    return this.plainNest(type | NLA.F_NESTED, inner);
  }

  /** The same without the mark. */
  plainNest(type: number, inner: (builder: this) => void): this {
    const start = this.header(type, 0) - 4;
    inner(this);
    this.bytes.writeUInt16LE(this.used - start, start);
    return this;
  }

  /** What was built; the builder is empty then. */
  take(): Buffer {
    const built = Buffer.from(this.bytes.subarray(0, this.used));
    this.used = 0;
    return built;
  }

  private number<T>(
    type: number,
    value: T | undefined,
    length: number,
    write: (value: T, at: number) => void,
  ): this {
    if (value !== undefined) write(value, this.header(type, length));
    return this;
  }

  /** Where the value of an attribute begins. */
  private header(type: number, length: number): number {
    const at = this.grow(aligned(4 + length));
    this.bytes.writeUInt16LE(4 + length, at);
    this.bytes.writeUInt16LE(type, at + 2);
    return at + 4;
  }

  private grow(length: number): number {
    const at = this.used;
    this.used += length;
    if (this.used > this.bytes.length) {
      const larger = Buffer.alloc(this.used * 2);
      this.bytes.copy(larger, 0, 0, at);
      this.bytes = larger;
    }
    // What follows a value up to the next multiple of four; the rest is written.
    if (length > 0) this.bytes.writeUInt32LE(0, this.used - 4);
    return at;
  }
}
