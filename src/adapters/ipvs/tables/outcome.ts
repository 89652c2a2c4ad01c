import type { StepOutcome } from '../kernel/virtual-servers.js';

/** Something that the kernel would not do. */
export interface Refusal<T> {
  readonly what: T;
  readonly reason: string;
}

/** How a batch of steps went. */
export interface Outcome<T> {
  /** Steps done. */
  readonly written: number;
  readonly refused: readonly Refusal<T>[];
}

/** A step, what it is about, and what is known once it is done. */
export interface PlannedStep<S, T> {
  readonly step: S;
  readonly about: T;
  readonly done: () => void;
}

/** Has the steps done and takes note of those that were. Of what several steps are about, the first refusal counts. */
export async function carryOut<S, T>(
  planned: readonly PlannedStep<S, T>[],
  apply: (steps: readonly S[]) => Promise<readonly StepOutcome[]>,
): Promise<Outcome<T>> {
  if (planned.length === 0) return { written: 0, refused: [] };
  const outcomes = await apply(planned.map(({ step }) => step));
  const refused = new Map<T, string>();
  let written = 0;
  planned.forEach(({ about, done }, index) => {
    const error = outcomes[index];
    if (!error) {
      written++;
      done();
    } else if (!refused.has(about)) {
      refused.set(about, error.message);
    }
  });
  return { written, refused: [...refused].map(([what, reason]) => ({ what, reason })) };
}

/**
 * Tries; where something is refused, what is remembered of the kernel may be wrong: reads it back and tries that part
 * again. What is refused then is refused.
 */
export async function withSecondTry<T>(
  all: readonly T[],
  attempt: (part: readonly T[]) => Promise<Outcome<T>>,
  readBack: () => Promise<void>,
): Promise<Outcome<T>> {
  const first = await attempt(all);
  if (first.refused.length === 0) return first;
  await readBack();
  const second = await attempt(first.refused.map(({ what }) => what));
  return { written: first.written + second.written, refused: second.refused };
}
