/** Components of keys and values: their types, bytes and text. */

import { protocolText } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { type DataType, formatPriority } from '../../../domain/nftables/layout/table.js';
import { UnsafeTextError } from '../../../domain/nftables/safe-text.js';

/** The encoding of one component of a key or value. Numbers, so that scanning a million of them needs no string comparison. */
export const enum Component {
  IPv4Address,
  IPv6Address,
  Protocol,
  Port,
  Priority,
  Slot,
}

/** The component of a data type in a family. */
export function componentOf(family: IpFamily, type: DataType): Component {
  switch (type) {
    case 'address':
      return family === 'IPv4' ? Component.IPv4Address : Component.IPv6Address;
    case 'protocol':
      return Component.Protocol;
    case 'port':
      return Component.Port;
    case 'priority':
      return Component.Priority;
    case 'slot':
      return Component.Slot;
  }
}

/** Bytes of a component in a concatenation. */
export function slotLength(component: Component): 4 | 16 {
  return component === Component.IPv6Address ? 16 : 4;
}

/** A component's type: its name and number in nft (docs/internals/spec/nft-netlink.md §7.1), and its bytes; the rest of a slot is zero. */
interface ComponentType {
  readonly name: string;
  readonly number: number;
  readonly length: 1 | 2 | 4 | 16;
}

const TYPES: Readonly<Record<Component, ComponentType>> = {
  [Component.IPv4Address]: { name: 'ipv4_addr', number: 7, length: 4 },
  [Component.IPv6Address]: { name: 'ipv6_addr', number: 8, length: 16 },
  [Component.Protocol]: { name: 'inet_proto', number: 12, length: 1 },
  [Component.Port]: { name: 'inet_service', number: 13, length: 2 },
  [Component.Priority]: { name: 'classid', number: 23, length: 4 },
  [Component.Slot]: { name: 'integer', number: 4, length: 4 },
};

export function typeOf(component: Component): ComponentType {
  return TYPES[component];
}

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
 * four bytes, packet data in network byte order, priorities in the host's (docs/internals/spec/nft-netlink.md §7.2). One pass
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
    if (this.at !== text.length) this.reject('nothing more');
  }

  private joint(): void {
    const { text, at } = this;
    if (
      text.charCodeAt(at) !== BLANK ||
      text.charCodeAt(at + 1) !== DOT ||
      text.charCodeAt(at + 2) !== BLANK
    ) {
      this.reject('" . "');
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
      if (value > maximum) this.reject(`a number up to ${maximum}`);
    }
    if (at === this.at) this.reject('a number');
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
    if (this.text.charCodeAt(this.at) !== DOT) this.reject('an IPv4 address');
    this.at++;
  }

  private ipv6(words: Uint32Array, word: number): void {
    const { text, groups } = this;
    let count = 0;
    let gap = -1;
    if (text.charCodeAt(this.at) === COLON) {
      if (text.charCodeAt(this.at + 1) !== COLON) this.reject('an IPv6 address');
      gap = 0;
      this.at += 2;
    }
    while (count < 8) {
      const start = this.at;
      const group = this.hex();
      if (this.at === start) {
        if (count === gap) break;
        this.reject('an IPv6 address');
      }
      groups[count++] = group;
      if (text.charCodeAt(this.at) !== COLON) break;
      if (count === 8) this.reject('an IPv6 address');
      this.at++;
      if (text.charCodeAt(this.at) === COLON) {
        if (gap >= 0) this.reject('an IPv6 address');
        gap = count;
        this.at++;
      }
    }
    if (gap < 0 ? count !== 8 : count === 8) this.reject('an IPv6 address');
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
    if (colon === at || text.charCodeAt(colon) !== COLON) this.reject('a priority');
    this.at = colon + 1;
    const minor = this.hex();
    if (this.at === colon + 1) this.reject('a priority');
    return ((major << 16) | minor) >>> 0;
  }

  private reject(expected: string): never {
    throw new UnsafeTextError('key or value', this.text, `${expected} at character ${this.at}`);
  }
}

/** The canonical text of the components at that position; ComponentScanner reads it back. */
export function componentsText(bytes: Buffer, start: number, components: readonly Component[]): string {
  let text = '';
  let at = start;
  for (let index = 0; index < components.length; index++) {
    const component = components[index]!;
    const own = componentText(bytes, at, component);
    text = index === 0 ? own : `${text} . ${own}`;
    at += slotLength(component);
  }
  return text;
}

function componentText(bytes: Buffer, at: number, component: Component): string {
  switch (component) {
    case Component.IPv4Address:
      return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
    case Component.IPv6Address:
      return ipv6Text(bytes, at);
    case Component.Protocol:
      return protocolText(bytes[at]!);
    case Component.Port:
      return String((bytes[at]! << 8) | bytes[at + 1]!);
    case Component.Priority:
      return formatPriority(bytes.readUInt32LE(at));
    case Component.Slot:
      return String(bytes.readUInt32LE(at));
  }
}

/** RFC 5952 without dotted quads: the first longest run of two or more zero groups becomes `::`. */
function ipv6Text(bytes: Buffer, at: number): string {
  let gap = -1;
  let longest = 1;
  for (let index = 0; index < 8; index++) {
    let length = 0;
    while (
      index + length < 8 &&
      bytes[at + 2 * (index + length)] === 0 &&
      bytes[at + 2 * (index + length) + 1] === 0
    ) {
      length++;
    }
    if (length > longest) {
      gap = index;
      longest = length;
    }
    if (length > 0) index += length - 1;
  }
  let text = '';
  for (let index = 0; index < 8; index++) {
    if (index === gap) {
      text += '::';
      index += longest - 1;
      continue;
    }
    const behindGap = gap >= 0 && index === gap + longest;
    if (index > 0 && !behindGap) text += ':';
    text += ((bytes[at + 2 * index]! << 8) | bytes[at + 2 * index + 1]!).toString(16);
  }
  return text;
}
