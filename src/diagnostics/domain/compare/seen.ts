import { intersection, rangeHas, without, type AddressRange, type AddressRanges } from './address-ranges.js';
import type { Watch } from '../walk/watch.js';

/** What rules of both sides compared of one packet. */
export class Seen implements Watch {
  readonly unclearThings = new Set<string>();
  readonly interfaces = new Set<string>();
  private readonly ranges = new Set<AddressRange>();
  private times = new Set<number>();

  constructor(readonly wantsSteps = false) {}

  source(range: AddressRange): void {
    this.ranges.add(range);
  }

  inputInterface(pattern: string): void {
    this.interfaces.add(pattern);
  }

  unclear(what: string): void {
    this.unclearThings.add(what);
  }

  affinity(seconds: number): void {
    this.times.add(seconds);
  }

  /** The times since this was asked the last time. */
  takeTimes(): readonly number[] {
    const times = [...this.times];
    this.times = new Set();
    return times;
  }

  /** Those of the sources that got the same answers everywhere as this one. */
  alike(source: bigint, sources: AddressRanges): AddressRanges {
    let alike = sources;
    for (const range of this.ranges)
      alike = rangeHas(range, source) ? intersection(alike, [range]) : without(alike, [range]);
    return alike;
  }
}
