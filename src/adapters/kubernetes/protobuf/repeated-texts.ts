import type { Buffer } from 'node:buffer';

/** Longer ones hardly repeat. Bytes. */
const LONGEST = 32;
/** A power of two. */
const SLOTS = 1024;

/**
 * Texts of UTF-8 that come again and again, as names of namespaces, ports, protocols and nodes do, each kept once. With 10,000
 * services of 5 endpoints that saves 3 MB, and to find a text here is quicker than to decode it.
 */
export class RepeatedTexts {
  private readonly recent: (string | undefined)[] = Array.from({ length: SLOTS });

  /** The text of these bytes. What is not UTF-8 becomes U+FFFD. */
  decode(bytes: Buffer, start: number, end: number): string {
    if (end - start > LONGEST) return bytes.toString('utf8', start, end);
    let hash = 0;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.recent[slot];
    if (known !== undefined && isAscii(known, bytes, start, end)) return known;
    return (this.recent[slot] = bytes.toString('utf8', start, end));
  }
}

/** Whether the text, in ASCII, is these bytes. */
function isAscii(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[start + index] || code > 0x7f) return false;
  }
  return true;
}
