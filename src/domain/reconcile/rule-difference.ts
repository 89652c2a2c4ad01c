/** Differences between the kernel's rules and the desired ones. */

import { getOrMake } from '../model/maps.js';
import { displayName, servicePortName, type ServicePortKey } from '../model/service-port-name.js';
import { isUnexplained, labelOf } from './claims.js';

/** One line in which the kernel differs from the desired state, in the syntax of the mode's tool. */
export interface RuleDifference {
  /** `-`: the kernel has it, and should not. `+`: it should have it. */
  readonly sign: '-' | '+';
  readonly text: string;
  /** The service port as `namespace/name:port`. Missing: it belongs to the node, or its owner is unknown. */
  readonly servicePort?: string;
}

/** A line with the service port that desires it. */
export function differing(
  sign: RuleDifference['sign'],
  text: string,
  owner?: ServicePortKey | undefined,
): RuleDifference {
  return owner === undefined ? { sign, text } : { sign, text, servicePort: servicePortText(owner) };
}

/** The service port that owns a rule, as answers name it: `namespace/name:port`. */
export function servicePortText(owner: ServicePortKey): string {
  if (isUnexplained(owner)) return labelOf(owner);
  return displayName(servicePortName(owner));
}

/** The difference of two ordered lists. Both in their own order. */
interface SequenceDifference {
  /** Indices of what must go, or move, in the actual list. */
  readonly unexpected: readonly number[];
  /** Indices of what must come in the desired list. */
  readonly missing: readonly number[];
}

/**
 * The difference between two lists, in which the same may stand several times. What stands in the wrong place goes and comes.
 * @param ordered false: the order does not count
 */
export function sequenceDifference(
  actual: readonly string[],
  desired: readonly string[],
  ordered = true,
): SequenceDifference {
  const places = new Map<string, number[]>();
  for (let index = desired.length - 1; index >= 0; index--)
    getOrMake(places, desired[index]!, () => []).push(index);
  // The nth of equal lines belongs to the nth.
  const placeOf = actual.map((line) => places.get(line)?.pop());
  const found = placeOf.filter((place) => place !== undefined);
  const kept = new Set<number | undefined>(ordered ? longestRise(found) : found);
  return {
    unexpected: indicesWhere(actual.length, (index) => !kept.has(placeOf[index])),
    missing: indicesWhere(desired.length, (index) => !kept.has(index)),
  };
}

/** The longest rising subsequence of different numbers, by binary search over the ends of shorter ones. */
function longestRise(numbers: readonly number[]): readonly number[] {
  const tops: number[] = [];
  const before = new Map<number, number | undefined>();
  for (const number of numbers) {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle]! < number) low = middle + 1;
      else high = middle;
    }
    before.set(number, tops[low - 1]);
    tops[low] = number;
  }
  const rise: number[] = [];
  for (let top = tops.at(-1); top !== undefined; top = before.get(top)) rise.push(top);
  return rise.reverse();
}

function indicesWhere(length: number, holds: (index: number) => boolean): readonly number[] {
  return Array.from({ length }, (_, index) => index).filter(holds);
}
