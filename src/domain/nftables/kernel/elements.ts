import type { KernelElement, KernelSet, KernelTable } from './ruleset.js';

/** Elements that a walk needs and that have not been read yet: all of a set, or one of these keys. */
export interface WantedElements {
  readonly table: KernelTable;
  readonly set: KernelSet;
  readonly keys: 'all' | readonly Buffer[];
}

/** The elements of sets as far as they were read. A walk asks for those that it needs, and is repeated when they are there. */
export class ElementStore {
  private readonly read = new Map<KernelSet, Map<string, KernelElement | undefined>>();
  private readonly listed = new Map<KernelSet, readonly KernelElement[]>();
  private missing = new Map<KernelSet, { readonly table: KernelTable; readonly keys: Map<string, Buffer> }>();

  /** The element that the kernel would find. An element that was not read yet is taken for missing, and noted as wanted. */
  find(table: KernelTable, set: KernelSet, key: Buffer): KernelElement | undefined {
    if (set.ranges !== undefined) {
      const elements = this.listed.get(set);
      if (!elements) this.want(table, set, key);
      return elements && findRange(elements, set.ranges, key);
    }
    const text = key.toString('latin1');
    const known = this.read.get(set);
    if (!known?.has(text)) this.want(table, set, key);
    return known?.get(text);
  }

  /** What was wanted since the last call. */
  takeWanted(): readonly WantedElements[] {
    const wanted = [...this.missing].map(([set, { table, keys }]) => ({
      table,
      set,
      keys: set.ranges === undefined ? [...keys.values()] : ('all' as const),
    }));
    this.missing = new Map();
    return wanted;
  }

  /** What the kernel has of what was wanted. */
  add({ set, keys }: WantedElements, elements: readonly KernelElement[]): void {
    if (keys === 'all') {
      this.listed.set(set, sorted(elements));
      return;
    }
    const known = this.read.get(set) ?? new Map<string, KernelElement | undefined>();
    this.read.set(set, known);
    for (const key of keys) known.set(key.toString('latin1'), undefined);
    for (const element of elements) if (element.key) known.set(element.key.toString('latin1'), element);
  }

  private want(table: KernelTable, set: KernelSet, key: Buffer): void {
    const keys = this.missing.get(set)?.keys ?? new Map<string, Buffer>();
    this.missing.set(set, { table, keys: keys.set(key.toString('latin1'), key) });
  }
}

function sorted(elements: readonly KernelElement[]): readonly KernelElement[] {
  const order = (one: KernelElement, other: KernelElement): number =>
    Buffer.compare(one.key ?? Buffer.alloc(0), other.key ?? Buffer.alloc(0)) ||
    // Where one range ends and the next begins, the beginning counts.
    Number(other.isEnd ?? false) - Number(one.isEnd ?? false);
  return [...elements].sort(order);
}

function findRange(
  elements: readonly KernelElement[],
  ranges: Exclude<KernelSet['ranges'], undefined>,
  key: Buffer,
): KernelElement | undefined {
  const keyed = elements.filter((element) => element.key !== undefined);
  const found =
    ranges === 'single' ? lastUpTo(keyed, key) : keyed.find((element) => isWithin(element, ranges, key));
  return found ?? elements.find((element) => element.key === undefined);
}

function lastUpTo(elements: readonly KernelElement[], key: Buffer): KernelElement | undefined {
  const last = elements.findLast((element) => Buffer.compare(element.key!.subarray(0, key.length), key) <= 0);
  return last?.isEnd ? undefined : last;
}

/** Each field is padded to words of four bytes. */
function isWithin(element: KernelElement, fields: readonly number[], key: Buffer): boolean {
  const first = element.key!;
  const last = element.lastKey ?? first;
  let at = 0;
  for (const length of fields) {
    const field = key.subarray(at, at + length);
    if (Buffer.compare(field, first.subarray(at, at + length)) < 0) return false;
    if (Buffer.compare(field, last.subarray(at, at + length)) > 0) return false;
    at += Math.ceil(length / 4) * 4;
  }
  return true;
}
