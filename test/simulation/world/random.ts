/** Numbers that follow from a seed alone (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let number = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    number = (number + Math.imul(number ^ (number >>> 7), 61 | number)) ^ number;
    return ((number ^ (number >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  isOneIn(count: number): boolean {
    return this.next() * count < 1;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)]!;
  }

  /** Some of the values, in their order. */
  some<T>(values: readonly T[], count: number): readonly T[] {
    const left = [...values.keys()];
    const chosen = Array.from(
      { length: Math.min(count, left.length) },
      () => left.splice(this.between(0, left.length - 1), 1)[0]!,
    );
    return chosen.sort((one, other) => one - other).map((index) => values[index]!);
  }

  /** Another source of numbers, which does not depend on how many this one gives. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
