import type { StepOutcome } from './ipvs-kernel.js';
import { isTemporary, NetlinkRequestError } from '../netlink/errors.js';

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

  /** Existing entries, or possibly existing ones. */
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

/** Something that the kernel rejected. */
interface Rejection<T> {
  readonly what: T;
  readonly reason: string;
  /** Nothing about the step is to blame, as when the kernel is out of memory. */
  readonly isTemporary: boolean;
}

/** How a batch of steps went. */
export interface Outcome<T> {
  /** Steps done. */
  readonly written: number;
  readonly refused: readonly Rejection<T>[];
}

/** A step, what it is about, and how it is remembered once it is done. */
export interface PlannedStep<S, T> {
  readonly step: S;
  readonly about: T;
  readonly done: () => void;
}

/** Takes the steps and remembers those that were done. Where several steps are about one thing, its first rejection counts. */
export async function carryOut<S, T>(
  planned: readonly PlannedStep<S, T>[],
  apply: (steps: readonly S[]) => Promise<readonly StepOutcome[]>,
): Promise<Outcome<T>> {
  if (planned.length === 0) return { written: 0, refused: [] };
  const outcomes = await apply(planned.map(({ step }) => step));
  const refused = new Map<T, Error>();
  let written = 0;
  planned.forEach(({ about, done }, index) => {
    const error = outcomes[index];
    if (!error) {
      written++;
      done();
    } else if (!refused.has(about)) {
      refused.set(about, error);
    }
  });
  return {
    written,
    refused: Array.from(refused, ([what, error]) => ({
      what,
      reason: error.message,
      isTemporary: error instanceof NetlinkRequestError && isTemporary(error.code),
    })),
  };
}

/** Throws the reasons when something was refused. */
export function expectDone({ refused }: Outcome<unknown>): void {
  if (refused.length > 0) throw new Error(refused.map(({ reason }) => reason).join('; '));
}
