import { UnsafeTextError } from '../../../../domain/nftables/text/safe-text.js';
import { Component } from './components.js';

const BLANK = 0x20;
const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const NOT_HEX = 16;

/** The value of each hex digit by character; NOT_HEX for others. */
const HEX = new Uint8Array(128).fill(NOT_HEX);
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/**
 * Converts the text of keys and values into the words that the kernel compares: each component left-aligned in slots of
 * four bytes, packet data in network byte order, priorities in the host's (docs/spec/nft-netlink.md §7.2). One pass
 * over the characters and no allocation, because it is used for every element of a large set.
 */
export class ComponentScanner {
  private text = '';
  private at = 0;
  private readonly groups = new Uint16Array(8);

  /** Writes the components, starting at that word. Throws UnsafeTextError for text that is not exactly such components. */
  scan(text: string, components: readonly Component[], words: Uint32Array, word: number): void {
    this.text = text;
    this.at = 0;
    const count = components.length;
    for (let index = 0; index < count; index++) {
      if (index > 0) this.joint();
      switch (components[index]) {
        case Component.IPv4Address:
          words[word++] = this.ipv4();
          break;
        case Component.IPv6Address:
          this.ipv6(words, word);
          word += 4;
          break;
        case Component.Protocol:
          words[word++] = this.protocol();
          break;
        case Component.Port: {
          const port = this.decimal(65535);
          words[word++] = (port >>> 8) | ((port & 0xff) << 8);
          break;
        }
        case Component.Priority:
          words[word++] = this.priority();
          break;
        case Component.Slot:
          words[word++] = this.decimal(0xffffffff);
          break;
      }
    }
    if (this.at !== text.length) this.refuse('nothing more');
  }

  private joint(): void {
    const { text, at } = this;
    if (
      text.charCodeAt(at) !== BLANK ||
      text.charCodeAt(at + 1) !== DOT ||
      text.charCodeAt(at + 2) !== BLANK
    ) {
      this.refuse('" . "');
    }
    this.at = at + 3;
  }

  private decimal(maximum: number): number {
    const { text } = this;
    let at = this.at;
    let value = 0;
    for (;;) {
      const digit = text.charCodeAt(at) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      at++;
      if (value > maximum) this.refuse(`a number up to ${maximum}`);
    }
    if (at === this.at) this.refuse('a number');
    this.at = at;
    return value;
  }

  private ipv4(): number {
    const first = this.decimal(255);
    this.dot();
    const second = this.decimal(255);
    this.dot();
    const third = this.decimal(255);
    this.dot();
    return first | (second << 8) | (third << 16) | (this.decimal(255) << 24);
  }

  private dot(): void {
    if (this.text.charCodeAt(this.at) !== DOT) this.refuse('an IPv4 address');
    this.at++;
  }

  private ipv6(words: Uint32Array, word: number): void {
    const { text, groups } = this;
    let count = 0;
    let gap = -1;
    if (text.charCodeAt(this.at) === COLON) {
      if (text.charCodeAt(this.at + 1) !== COLON) this.refuse('an IPv6 address');
      gap = 0;
      this.at += 2;
    }
    while (count < 8) {
      const start = this.at;
      const group = this.hex();
      if (this.at === start) {
        if (count === gap) break;
        this.refuse('an IPv6 address');
      }
      groups[count++] = group;
      if (text.charCodeAt(this.at) !== COLON) break;
      if (count === 8) this.refuse('an IPv6 address');
      this.at++;
      if (text.charCodeAt(this.at) === COLON) {
        if (gap >= 0) this.refuse('an IPv6 address');
        gap = count;
        this.at++;
      }
    }
    if (gap < 0 ? count !== 8 : count === 8) this.refuse('an IPv6 address');
    const zeros = 8 - count;
    for (let index = 0; index < 4; index++) {
      const high = this.group(2 * index, gap, zeros);
      const low = this.group(2 * index + 1, gap, zeros);
      words[word + index] =
        (high >>> 8) | ((high & 0xff) << 8) | ((low & 0xff00) << 8) | ((low & 0xff) << 24);
    }
  }

  private group(index: number, gap: number, zeros: number): number {
    if (gap < 0 || index < gap) return this.groups[index]!;
    return index < gap + zeros ? 0 : this.groups[index - zeros]!;
  }

  /** Up to four hex digits. */
  private hex(): number {
    const { text } = this;
    let value = 0;
    for (let digits = 0; digits < 4; digits++) {
      const code = text.charCodeAt(this.at);
      const digit = code < 128 ? HEX[code]! : NOT_HEX;
      if (digit === NOT_HEX) break;
      value = (value << 4) | digit;
      this.at++;
    }
    return value;
  }

  private protocol(): number {
    const { text, at } = this;
    if (text.startsWith('tcp', at)) return this.named(3, 6);
    if (text.startsWith('udp', at)) return this.named(3, 17);
    if (text.startsWith('sctp', at)) return this.named(4, 132);
    return this.decimal(255);
  }

  private named(length: number, value: number): number {
    this.at += length;
    return value;
  }

  private priority(): number {
    const { text, at } = this;
    if (text.startsWith('none', at)) return this.named(4, 0);
    if (text.startsWith('root', at)) return this.named(4, 0xffffffff);
    const major = this.hex();
    const colon = this.at;
    if (colon === at || text.charCodeAt(colon) !== COLON) this.refuse('a priority');
    this.at = colon + 1;
    const minor = this.hex();
    if (this.at === colon + 1) this.refuse('a priority');
    return ((major << 16) | minor) >>> 0;
  }

  private refuse(expected: string): never {
    throw new UnsafeTextError('key or value', this.text, `${expected} at character ${this.at}`);
  }
}
