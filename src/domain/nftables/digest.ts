import { mixed } from './mixed.js';
import type { PlacedElement } from './state/service-port-rules.js';

/**
 * A number that differs, in practice, whenever these texts or elements differ: what a frontend's own element carries, so that
 * a later process can tell the frontend's rules without reading them. It has 53 bits, as many as a number holds.
 */
export function digestOf(elements: readonly PlacedElement[], texts: readonly string[]): number {
  const hash = new Hash();
  for (const text of texts) hash.add(text);
  for (const { set, key, value, comment } of elements) {
    hash.add(set.name);
    hash.add(key);
    if (value !== undefined) hash.add(value);
    if (comment !== undefined) hash.add(comment);
  }
  return hash.value;
}

const TWO_TO_32 = 2 ** 32;
const UPPER_BITS = 0x1fffff;

/** Two 32-bit hashes with different multipliers, which see every character and every end of a text. */
class Hash {
  private one = 0x811c9dc5;
  private other = 0x9747b28c;

  add(text: string): void {
    let { one, other } = this;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x5bd1e995);
      other ^= other >>> 15;
    }
    this.one = Math.imul(one ^ 0x10000, 0x01000193);
    this.other = Math.imul(other ^ text.length, 0x5bd1e995);
  }

  get value(): number {
    return (mixed(this.other) & UPPER_BITS) * TWO_TO_32 + mixed(this.one);
  }
}
