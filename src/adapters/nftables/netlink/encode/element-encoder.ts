import {
  MAX_COMMENT_LENGTH,
  safeComment,
  safeVerdict,
  UnsafeTextError,
} from '../../../../domain/nftables/text/safe-text.js';
import type { SetDefinition, SetElement } from '../../../../domain/nftables/layout/table.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import { align, NLA_F_NESTED } from '../../../netlink/protocol.js';
import type { Component } from '../read/components.js';
import { ComponentScanner } from '../read/component-scanner.js';
import { data } from '../messages/expressions.js';
import { DATA, ELEMENT, DIGEST_LENGTH, LIST_ELEMENT, USERDATA, VERDICT_CODES } from '../nf-tables.js';
import type { SetLayout } from './set-layout.js';

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
      if ((element.value === undefined) !== (set.value === undefined)) {
        const expected =
          set.value === undefined ? `no value in the set ${set.name}` : `a value in the map ${set.name}`;
        throw new UnsafeTextError('element', element.key, expected);
      }
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
    const [verdict, chain] = safeVerdict(text).split(' ') as [keyof typeof VERDICT_CODES, string | undefined];
    data.write(this.writer, ELEMENT.DATA, { verdict: { code: VERDICT_CODES[verdict], chain } });
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
