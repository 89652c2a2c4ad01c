import { seededRandom } from '../fleet/herd/seeded-random.js';

export type Fields = Record<string, unknown>;

/** Chooses values, most of them good. */
export class Dice {
  private readonly random: () => number;
  /** How likely each choice is a bad one. */
  private risk = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  object(): void {
    this.risk = this.of([0, 0.02, 0.06, 0.15]);
  }

  chance(part: number): boolean {
    return this.random() < part;
  }

  get risky(): boolean {
    return this.chance(this.risk);
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** A good value, or sometimes a doubtful one. */
  either<T>(good: readonly T[], doubtful: readonly unknown[]): unknown {
    return this.of<unknown>(this.risky ? doubtful : good);
  }

  list<T>(most: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.below(most + 1) }, (_, index) => make(index));
  }

  /** Each field by its likelihood. */
  fields(all: Readonly<Record<string, readonly [likelihood: number, make: () => unknown]>>): Fields {
    const fields: Fields = {};
    for (const [name, [likelihood, make]] of Object.entries(all))
      if (this.chance(likelihood)) fields[name] = make();
    return fields;
  }
}
