/** Elements of sets in netlink messages: written, read, and looked up by key. */

import { verdictText } from '../../../domain/nftables/kernel/rule-text.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { KernelElement } from '../../../domain/nftables/kernel/ruleset.js';
import type { SetDefinition, SetElement } from '../../../domain/nftables/layout/table.js';
import {
  MAX_COMMENT_LENGTH,
  safeComment,
  parseVerdict,
  UnsafeTextError,
} from '../../../domain/nftables/safe-text.js';
import { ENOENT } from '../../netlink/errors.js';
import { AttributeReader, type NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { type NetlinkConversation, succeeded } from '../../netlink/netlink-channel.js';
import { align, NLA_F_NESTED, NLM_F_ACK } from '../../netlink/protocol.js';
import { attributesOf } from './attribute-layout.js';
import { type Component, ComponentScanner, componentsText } from './components.js';
import { data, verdict } from './expressions.js';
import { DATA, ELEMENT, DIGEST_LENGTH, LIST_ELEMENT, USERDATA } from './nf-tables.js';
import * as nf from './nf-tables.js';
import { readUserdata, type Userdata } from './records.js';
import { setLayout, type SetLayout } from './set-layout.js';

/** Room for one element without a verdict: key and value of 64 bytes each, a comment, headers. */
const MAX_ELEMENT = 512;

/** Header of the userdata attribute, and of the comment in it. */
const COMMENT_HEADERS = 4 + 2;
const DIGEST_ENTRY = 2 + DIGEST_LENGTH;

const KEY_NEST = (ELEMENT.KEY | NLA_F_NESTED) << 16;
const DATA_NEST = (ELEMENT.DATA | NLA_F_NESTED) << 16;
const VALUE = DATA.VALUE << 16;
const ENTRY = (LIST_ELEMENT | NLA_F_NESTED) << 16;

/**
 * Writes the elements of sets. Large tables have a million of them, so headers are written as single words, texts are
 * scanned directly into the message, and nothing is allocated.
 */
export class ElementEncoder {
  private readonly scanner = new ComponentScanner();

  constructor(private readonly writer: MessageWriter) {}

  /** Writes an element as an entry of the list; for a deletion, its key alone. Throws UnsafeTextError. */
  put(set: SetDefinition, layout: SetLayout, element: SetElement, whole: boolean): void {
    const { writer } = this;
    writer.reserve(MAX_ELEMENT);
    const entry = writer.length;
    writer.length = entry + 4;
    this.putData(KEY_NEST, layout.key, layout.keyLength, element.key);
    if (whole) {
      requireValue(set, element);
      if (layout.value) this.putData(DATA_NEST, layout.value, layout.dataLength, element.value!);
      else if (element.value !== undefined) this.putVerdict(element.value);
      if (element.comment !== undefined) this.putUserdata(element.comment, element.digest);
    }
    writer.words[entry >>> 2] = ENTRY | (writer.length - entry);
  }

  /** A key or a value: nested data. */
  private putData(nest: number, components: readonly Component[], length: number, text: string): void {
    const { writer } = this;
    const word = writer.length >>> 2;
    const total = 8 + align(length);
    writer.words[word] = nest | total;
    writer.words[word + 1] = VALUE | (4 + length);
    this.scanner.scan(text, components, writer.words, word + 2);
    writer.length += total;
  }

  private putVerdict(text: string): void {
    data.write(this.writer, ELEMENT.DATA, { verdict: parseVerdict(text) });
    this.writer.reserve(MAX_ELEMENT);
  }

  private putUserdata(text: string, digest: number | undefined): void {
    const { writer } = this;
    const { bytes, words, length: start } = writer;
    const { length } = text;
    if (length === 0 || length > MAX_COMMENT_LENGTH) safeComment(text);
    const commentEnd = COMMENT_HEADERS + length + 1;
    const total = digest === undefined ? commentEnd : commentEnd + DIGEST_ENTRY;
    const padded = align(total);
    words[(start + padded - 4) >>> 2] = 0;
    words[start >>> 2] = (ELEMENT.USERDATA << 16) | total;
    bytes[start + 4] = 0;
    bytes[start + 5] = length + 1;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) safeComment(text);
      bytes[start + COMMENT_HEADERS + index] = code;
    }
    bytes[start + COMMENT_HEADERS + length] = 0;
    if (digest !== undefined) {
      bytes[start + commentEnd] = USERDATA.DIGEST;
      bytes[start + commentEnd + 1] = DIGEST_LENGTH;
      bytes.writeDoubleLE(digest, start + commentEnd + 2);
    }
    writer.length = start + padded;
  }
}

/** Maps have values, sets have none. */
function requireValue({ name, value: of }: SetDefinition, { key, value }: SetElement): void {
  if ((value === undefined) === (of === undefined)) return;
  const expected = of === undefined ? `no value in the set ${name}` : `a value in the map ${name}`;
  throw new UnsafeTextError('element', key, expected);
}

/** An element as the kernel would list it. @throws UnsafeTextError */
export function kernelElementOf(family: IpFamily, set: SetDefinition, element: SetElement): KernelElement {
  requireValue(set, element);
  const layout = setLayout(family, set);
  const { key, value, comment } = element;
  return {
    key: bytesOf(key, layout.key, layout.keyLength),
    ...(value !== undefined &&
      (layout.value
        ? { value: bytesOf(value, layout.value, layout.dataLength) }
        : { verdict: parseVerdict(value) })),
    ...(comment !== undefined && { comment: safeComment(comment) }),
  };
}

function bytesOf(text: string, components: readonly Component[], length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  new ComponentScanner().scan(text, components, words, 0);
  return new Uint8Array(words.buffer, 0, length);
}

/** One expression, or several. */
const EXPRESSIONS: ReadonlySet<number> = new Set([nf.ELEMENT.EXPRESSION, nf.ELEMENT.EXPRESSIONS]);
const NO_USERDATA: Userdata = {};

/** Reads elements of a set of ours as text, without a record of each: large tables have a million of them. */
export class ElementReader {
  readonly elements = new Map<string, SetElement>();
  /** How many were read; more than the number of elements if some came twice. */
  seen = 0;
  private readonly entries = new AttributeReader(Buffer.alloc(0));
  private readonly entry = new AttributeReader(Buffer.alloc(0));
  private readonly data = new AttributeReader(Buffer.alloc(0));

  private readonly first: SetLayout['key'];

  /** @param passes whether elements whose keys begin with that component are taken; all are if it is omitted */
  constructor(
    private readonly layout: SetLayout,
    private readonly passes?: (first: string) => boolean,
  ) {
    this.first = layout.key.slice(0, 1);
  }

  read(message: NetlinkMessage): void {
    const attributes = attributesOf(message);
    while (attributes.next()) {
      if (attributes.type !== nf.ELEMENTS.LIST) continue;
      const { entries } = this;
      entries.over(message.bytes, attributes.start, attributes.end);
      while (entries.next()) this.readElement(message.bytes, entries.start, entries.end);
    }
  }

  private readElement(bytes: Buffer, start: number, end: number): void {
    const { entry, layout } = this;
    let key: string | undefined;
    let hasMore = false;
    let value: string | undefined;
    let userdata = NO_USERDATA;
    entry.over(bytes, start, end);
    while (entry.next()) {
      if (entry.type === nf.ELEMENT.KEY) {
        if (this.passes?.(this.readData(bytes, this.first) ?? '') === false) return;
        key = this.readData(bytes, layout.key) ?? '';
      } else if (entry.type === nf.ELEMENT.DATA) value = this.readData(bytes, layout.value ?? []);
      else if (entry.type === nf.ELEMENT.USERDATA) userdata = readUserdata(bytes, entry.start, entry.end);
      else if (EXPRESSIONS.has(entry.type)) hasMore = true;
    }
    // The one for all keys without an element of their own.
    if (key === undefined) return;
    this.seen++;
    const { comment, digest } = userdata;
    this.elements.set(key, { key, value, comment, digest, ...(hasMore && { hasMore: true }) });
  }

  private readData(bytes: Buffer, components: SetLayout['key']): string | undefined {
    const { data, entry } = this;
    data.over(bytes, entry.start, entry.end);
    while (data.next()) {
      if (data.type === nf.DATA.VALUE) return componentsText(bytes, data.start, components);
      if (data.type === nf.DATA.VERDICT) return verdictText(verdict.read(data));
    }
    return undefined;
  }
}

/** Elements in one request: a millisecond's work for the kernel and this thread. Their answers fit into the receive buffer. */
export const LOOKED_UP_AT_ONCE = 256;

/** A set in the kernel. */
export interface SetPlace {
  readonly familyWord: number;
  readonly table: string;
  readonly set: string;
}

/** How keys are sent, and what comes back for them. */
interface Lookup<Key> {
  put(writer: MessageWriter, key: Key): void;
  read(message: NetlinkMessage): void;
  /** Whether its element has come back. */
  has(key: Key): boolean;
}

/**
 * Asks the kernel for the elements of these keys, without yielding to the event loop. It costs about 4 µs an element in a set of
 * any size, where listing a set costs each element the more the larger the set is.
 * @param keys at most LOOKED_UP_AT_ONCE
 */
export function lookUpElements<Key>(
  conversation: NetlinkConversation,
  place: SetPlace,
  keys: readonly Key[],
  lookup: Lookup<Key>,
): void {
  const query = (wanted: readonly Key[]): boolean => {
    const request = {
      type: nf.GETSETELEM,
      attempt: `looking up elements of the set ${place.set} of nf_tables`,
      put(writer: MessageWriter) {
        writer.putWord(place.familyWord);
        putSet(writer, place);
        const list = writer.beginNest(nf.ELEMENTS.LIST);
        for (const key of wanted) lookup.put(writer, key);
        writer.endNest(list);
      },
    };
    const reply = conversation.exchangeNow(request, NLM_F_ACK, (message) => lookup.read(message));
    return succeeded(request, reply, [ENOENT]);
  };
  // The kernel stops at the first that it does not have.
  if (!query(keys)) for (const key of keys) if (!lookup.has(key)) query([key]);
}

/** Names the set in a request. */
export function putSet(writer: MessageWriter, { table, set }: Omit<SetPlace, 'familyWord'>): void {
  writer.putText(nf.ELEMENTS.TABLE, table);
  writer.putText(nf.ELEMENTS.SET, set);
}
