import type { Wanted } from '../walk/on-demand.js';
import { byteText, compareBytes } from '../../../domain/nftables/kernel/bytes.js';
import type { KernelElement, KernelSet, KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { getOrMake } from '../../../domain/model/maps.js';

/** Elements that a walk needs and that have not been read yet: all of a set, or one of these keys. */
export interface WantedElements {
  readonly table: KernelTable;
  readonly set: KernelSet;
  readonly keys: 'all' | readonly Uint8Array[];
}

export type ReadElements = (wanted: WantedElements) => Promise<readonly KernelElement[]>;

/** Finds the element of a set that the kernel would find. */
export type FindElement = (table: KernelTable, set: KernelSet, key: Uint8Array) => KernelElement | undefined;

/** The elements of sets as far as they were read. */
export class ElementStore implements Wanted {
  private readonly read = new Map<KernelSet, Map<string, KernelElement | undefined>>();
  private readonly listed = new Map<KernelSet, readonly KernelElement[]>();
  private missing = new Map<
    KernelSet,
    { readonly table: KernelTable; readonly keys: Map<string, Uint8Array> }
  >();

  /** @param readElements what it does not return does not exist */
  constructor(private readonly readElements: ReadElements) {}

  /** An element that was not read yet is taken for missing, and noted as wanted. */
  readonly find: FindElement = (table, set, key) => {
    if (set.ranges !== undefined) {
      const elements = this.listed.get(set);
      if (!elements) this.want(table, set, key);
      return elements && findRange(elements, set.ranges, key);
    }
    const text = byteText(key);
    const known = this.read.get(set);
    if (!known?.has(text)) this.want(table, set, key);
    return known?.get(text);
  };

  /** All elements of a set with ranges, otherwise the requested ones. */
  async readWanted(): Promise<boolean> {
    const { missing } = this;
    this.missing = new Map();
    for (const [set, { table, keys }] of missing) {
      if (set.ranges !== undefined) {
        this.listed.set(set, sorted(await this.readElements({ table, set, keys: 'all' })));
        continue;
      }
      const found = await this.readElements({ table, set, keys: [...keys.values()] });
      const known = getOrMake(this.read, set, () => new Map<string, KernelElement | undefined>());
      for (const text of keys.keys()) known.set(text, undefined);
      for (const element of found) if (element.key) known.set(byteText(element.key), element);
    }
    return missing.size > 0;
  }

  private want(table: KernelTable, set: KernelSet, key: Uint8Array): void {
    const { keys } = getOrMake(this.missing, set, () => ({ table, keys: new Map<string, Uint8Array>() }));
    keys.set(byteText(key), key);
  }
}

const NO_KEY = new Uint8Array();

/** The elements of a set of ranges in the order of their keys. */
export function sorted(elements: readonly KernelElement[]): readonly KernelElement[] {
  const order = (one: KernelElement, other: KernelElement): number =>
    compareBytes(one.key ?? NO_KEY, other.key ?? NO_KEY) ||
    // Where one range ends and the next begins, the beginning counts.
    Number(other.isEnd ?? false) - Number(one.isEnd ?? false);
  return [...elements].sort(order);
}

/** The element of a set of ranges that a key is in, of elements in their order. */
export function findRange(
  elements: readonly KernelElement[],
  ranges: Exclude<KernelSet['ranges'], undefined>,
  key: Uint8Array,
): KernelElement | undefined {
  const found =
    ranges === 'single'
      ? lastUpTo(elements, key)
      : elements.find((element) => element.key && isWithin(element, ranges, key));
  return found ?? elements.find((element) => element.key === undefined);
}

function lastUpTo(elements: readonly KernelElement[], key: Uint8Array): KernelElement | undefined {
  const last = elements.findLast(
    (element) => element.key && compareBytes(element.key.subarray(0, key.length), key) <= 0,
  );
  return last?.isEnd ? undefined : last;
}

/** Each field is padded to words of four bytes. */
function isWithin(element: KernelElement, fields: readonly number[], key: Uint8Array): boolean {
  const first = element.key!;
  const last = element.lastKey ?? first;
  let at = 0;
  for (const length of fields) {
    const field = key.subarray(at, at + length);
    if (compareBytes(field, first.subarray(at, at + length)) < 0) return false;
    if (compareBytes(field, last.subarray(at, at + length)) > 0) return false;
    at += Math.ceil(length / 4) * 4;
  }
  return true;
}
