import { getOrMake } from '../../../../domain/model/maps.js';
import type { AddressRange } from '../../compare/address-ranges.js';
import { hex } from '../../../../domain/nftables/kernel/bytes.js';
import { BytesMap } from '../bytes-map.js';
import type { KernelElement, KernelSet } from '../../../../domain/nftables/kernel/ruleset.js';

/** Where the source is in the keys of a set. */
export interface SourceInKey {
  readonly at: number;
  readonly length: number;
  /** The bits that were masked out, which may be anything. */
  readonly others: bigint;
}

/** Sources that a look-up tells from others, by its key. */
export type FindRanges = (key: Uint8Array) => readonly AddressRange[];

/** The sources of those elements which a key finds, apart from its own source. */
export function sourceRanges(
  { ranges }: KernelSet,
  elements: readonly KernelElement[],
  place: SourceInKey,
): FindRanges {
  if (ranges === undefined) {
    const found = byRestOfKey(elements, place);
    return (key) => found.get(restOf(key, place)) ?? NONE;
  }
  const { at, length } = place;
  const part = (bytes: Uint8Array) => BigInt(hex(bytes.subarray(at, at + length)));
  // Those that another part of the key rules out make the classes finer than they need to be, and nothing else.
  const all =
    ranges === 'single'
      ? betweenBounds(elements, part)
      : elements.flatMap(({ key, lastKey = key }) =>
          key ? [{ first: part(key), last: part(lastKey!) }] : [],
        );
  return () => all;
}

const NONE: readonly AddressRange[] = [];

type ByRestOfKey = BytesMap<AddressRange[]>;

/** By set and place: several rules may look there. */
const BY_REST = new WeakMap<readonly KernelElement[], Map<string, ByRestOfKey>>();

/** The sources of elements whose keys are the same otherwise. */
function byRestOfKey(elements: readonly KernelElement[], place: SourceInKey): ByRestOfKey {
  const { at, length, others } = place;
  const places = getOrMake(BY_REST, elements, () => new Map<string, ByRestOfKey>());
  return getOrMake(places, `${at} ${others}`, () => {
    const found: ByRestOfKey = new BytesMap();
    for (const { key } of elements)
      if (key) {
        const first = BigInt(hex(key.subarray(at, at + length)));
        getOrMake(found, restOf(key, place), () => []).push({ first, last: first | others });
      }
    return found;
  });
}

function restOf(key: Uint8Array, { at, length }: SourceInKey): Uint8Array {
  // Slices of a Buffer would be the key itself.
  return new Uint8Array(key).fill(0, at, at + length);
}

/** What lies from where a range begins to before the next bound. */
function betweenBounds(
  elements: readonly KernelElement[],
  part: (bytes: Uint8Array) => bigint,
): readonly AddressRange[] {
  const bounds = elements.filter(({ key }) => key !== undefined);
  return bounds.flatMap(({ key, isEnd }, at) => {
    const next = bounds[at + 1]?.key;
    return isEnd ? [] : [{ first: part(key!), last: next ? part(next) - 1n : LAST_NUMBER }];
  });
}

/** Above all addresses. */
const LAST_NUMBER = 1n << 128n;
