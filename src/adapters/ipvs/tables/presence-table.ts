import type { StepOutcome } from '../kernel/virtual-servers.js';
import { carryOut, type Outcome } from './planned-steps.js';

/** Things of which the kernel has some and lacks others, as they were read or written last. */
export class PresenceTable<T extends string> {
  private readonly present = new Set<T>();

  /** @param apply adds or removes in order, and returns for each why it was refused */
  constructor(
    private readonly apply: (kind: 'add' | 'remove', things: readonly T[]) => Promise<readonly StepOutcome[]>,
  ) {}

  /** The kernel has exactly these. */
  found(things: Iterable<T>): void {
    this.present.clear();
    for (const what of things) this.present.add(what);
  }

  has(what: T): boolean {
    return this.present.has(what);
  }

  all(): readonly T[] {
    return [...this.present];
  }

  /** Adds what is missing of these, in their order. */
  add(things: readonly T[]): Promise<Outcome<T>> {
    return this.change('add', things);
  }

  /** Removes what is there of these, in their order. */
  remove(things: readonly T[] = this.all()): Promise<Outcome<T>> {
    return this.change('remove', things);
  }

  private change(kind: 'add' | 'remove', things: readonly T[]): Promise<Outcome<T>> {
    const { present, apply } = this;
    const planned = things
      .filter((what) => present.has(what) === (kind === 'remove'))
      .map((what) => ({
        step: what,
        about: what,
        done: () => void (kind === 'add' ? present.add(what) : present.delete(what)),
      }));
    return carryOut(planned, (steps) => apply(kind, steps));
  }
}
