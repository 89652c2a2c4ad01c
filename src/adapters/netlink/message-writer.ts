import { align, HEADER_LENGTH, NLA_F_NESTED } from './protocol.js';

const ATTRIBUTE_HEADER = 4;

/**
 * Writes messages and attributes, one after the other, into one buffer that grows. Everything begins at a multiple of
 * four, so headers are written as whole words. Nests and messages are opened, and closed with the position returned by
 * opening. Little-endian machines only, as loadLibc requires.
 */
export class MessageWriter {
  /** The first `length` bytes are the written ones. Replaced when it grows: do not keep it across writes. */
  bytes: Buffer;
  /** The same memory as words in the host's byte order. */
  words: Uint32Array;
  length = 0;

  constructor(capacity = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(align(capacity));
    this.words = wordsOf(this.bytes);
  }

  /** Makes room for this many more bytes, so that they may be written into `bytes` and `words` directly. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.bytes.length) this.grow(needed);
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(align(Math.max(needed, this.bytes.length * 2)));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
    this.words = wordsOf(larger);
  }

  /** Opens a message. */
  beginMessage(type: number, flags: number, sequence: number): number {
    this.reserve(HEADER_LENGTH);
    const start = this.length;
    const word = start >>> 2;
    this.words[word + 1] = type | (flags << 16);
    this.words[word + 2] = sequence;
    this.words[word + 3] = 0;
    this.length = start + HEADER_LENGTH;
    return start;
  }

  endMessage(start: number): void {
    this.words[start >>> 2] = this.length - start;
  }

  /** Opens a nest of attributes. */
  beginNest(type: number): number {
    this.reserve(ATTRIBUTE_HEADER);
    const start = this.length;
    this.words[start >>> 2] = (type | NLA_F_NESTED) << 16;
    this.length = start + ATTRIBUTE_HEADER;
    return start;
  }

  endNest(start: number): void {
    const length = this.length - start;
    if (length > 0xffff) throw new RangeError(`a nest of ${length} bytes does not fit into an attribute`);
    this.words[start >>> 2]! |= length;
  }

  /** Four bytes as they are, outside of attributes: a family's own header. */
  putWord(word: number): void {
    this.reserve(4);
    this.words[this.length >>> 2] = word;
    this.length += 4;
  }

  /** An attribute of one byte. */
  putU8(type: number, value: number): void {
    this.reserve(8);
    const word = this.length >>> 2;
    this.words[word] = 5 | (type << 16);
    this.words[word + 1] = value & 0xff;
    this.length += 8;
  }

  /** An attribute of 16 bits in network byte order. */
  putU16(type: number, value: number): void {
    this.putHostU16(type, ((value & 0xff) << 8) | (value >>> 8));
  }

  /** An attribute of 16 bits in the host's byte order. */
  putHostU16(type: number, value: number): void {
    this.reserve(8);
    const word = this.length >>> 2;
    this.words[word] = 6 | (type << 16);
    this.words[word + 1] = value & 0xffff;
    this.length += 8;
  }

  /** An attribute of 32 bits in the host's byte order. */
  putHostU32(type: number, value: number): void {
    this.reserve(8);
    const word = this.length >>> 2;
    this.words[word] = 8 | (type << 16);
    this.words[word + 1] = value;
    this.length += 8;
  }

  /** An attribute of 32 bits in network byte order; negative numbers as two's complement. */
  putU32(type: number, value: number): void {
    this.putHostU32(type, swapBytes(value));
  }

  /** An attribute of 64 bits in network byte order, from a whole number below 2^53. */
  putU64(type: number, value: number): void {
    this.reserve(12);
    const word = this.length >>> 2;
    this.words[word] = 12 | (type << 16);
    this.words[word + 1] = swapBytes(Math.floor(value / 0x1_0000_0000));
    this.words[word + 2] = swapBytes(value % 0x1_0000_0000);
    this.length += 12;
  }

  /** An attribute of text with its closing NUL. */
  putText(type: number, text: string): void {
    const { length } = text;
    this.openBytes(type, length + 1);
    const { bytes } = this;
    const start = this.length + ATTRIBUTE_HEADER;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return this.putBytes(type, Buffer.from(`${text}\0`));
      bytes[start + index] = code;
    }
    bytes[start + length] = 0;
    this.length += align(ATTRIBUTE_HEADER + length + 1);
  }

  /** An attribute of bytes as they are. */
  putBytes(type: number, value: Uint8Array): void {
    this.openBytes(type, value.length);
    this.bytes.set(value, this.length + ATTRIBUTE_HEADER);
    this.length += align(ATTRIBUTE_HEADER + value.length);
  }

  private openBytes(type: number, size: number): void {
    const total = ATTRIBUTE_HEADER + size;
    const padded = align(total);
    this.reserve(padded);
    const word = this.length >>> 2;
    this.words[word + (padded >>> 2) - 1] = 0;
    this.words[word] = total | (type << 16);
  }
}

/** A word with its four bytes in opposite order. */
export function swapBytes(value: number): number {
  return ((value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | ((value >>> 24) & 0xff)) >>> 0;
}

function wordsOf(bytes: Buffer): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
}
