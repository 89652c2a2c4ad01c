import { ELEMENT_FLAG } from '../numbers.js';
import type { Element, NftSet } from '../objects.js';

/** The ranges of a set, in order, to find the one that a key is in. */
export class RangeIndex {
  private readonly fields: readonly number[];
  private readonly sorted: readonly Element[];

  constructor({ fields, elements }: NftSet) {
    this.fields = fields;
    this.sorted = [...elements.values()]
      .filter(({ key }) => key !== undefined)
      .sort((one, other) => one.key!.compare(other.key!) || Number(isEnd(other)) - Number(isEnd(one)));
  }

  find(key: Buffer): Element | undefined {
    if (this.fields.length > 1) return this.sorted.find((element) => this.isWithin(element, key));
    const last = this.sorted.findLast(
      (element) => element.key!.compare(key.subarray(0, element.key!.length)) <= 0,
    );
    return last && !isEnd(last) ? last : undefined;
  }

  /** Each field begins at a multiple of four bytes. */
  private isWithin({ key: first, keyEnd: last = first }: Element, key: Buffer): boolean {
    let at = 0;
    for (const length of this.fields) {
      const field = key.subarray(at, at + length);
      if (field.compare(first!.subarray(at, at + length)) < 0) return false;
      if (field.compare(last!.subarray(at, at + length)) > 0) return false;
      at += (length + 3) & ~3;
    }
    return true;
  }
}

function isEnd({ flags }: Element): boolean {
  return (flags & ELEMENT_FLAG.INTERVAL_END) !== 0;
}
