import type { StepOutcome } from '../kernel/virtual-servers.js';
import { carryOut, type Outcome } from './planned-steps.js';

/** Things of which the kernel has some and lacks others, as they were read or written last. */
export class PresenceTable<T extends string> {
  private readonly present = new Set<T>();
  /** Of these a step was refused last: a tool that fails may have done it all the same. So whichever comes next is taken. */
  private readonly uncertain = new Set<T>();

  /** @param apply adds or removes in order, and returns for each why it was refused */
  constructor(
    private readonly apply: (kind: 'add' | 'remove', things: readonly T[]) => Promise<readonly StepOutcome[]>,
  ) {}

  /** The kernel has exactly these. */
  found(things: Iterable<T>): void {
    this.present.clear();
    this.uncertain.clear();
    for (const what of things) this.present.add(what);
  }

  /** Whether it is there, or may be. */
  has(what: T): boolean {
    return this.present.has(what) || this.uncertain.has(what);
  }

  /** What is there, or may be. */
  all(): readonly T[] {
    return [...new Set([...this.present, ...this.uncertain])];
  }

  /** Adds what is missing of these, in their order. */
  add(things: readonly T[]): Promise<Outcome<T>> {
    return this.change('add', things);
  }

  /** Removes what is there of these, in their order. */
  remove(things: readonly T[] = this.all()): Promise<Outcome<T>> {
    return this.change('remove', things);
  }

  private async change(kind: 'add' | 'remove', things: readonly T[]): Promise<Outcome<T>> {
    const { present, uncertain, apply } = this;
    const planned = things
      .filter((what) => uncertain.has(what) || present.has(what) === (kind === 'remove'))
      .map((what) => ({
        step: what,
        about: what,
        done: () => {
          uncertain.delete(what);
          if (kind === 'add') present.add(what);
          else present.delete(what);
        },
      }));
    const outcome = await carryOut(planned, (steps) => apply(kind, steps));
    for (const { what } of outcome.refused) uncertain.add(what);
    return outcome;
  }
}
