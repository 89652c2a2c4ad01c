import { isTemporary } from '../../netlink/errno.js';
import { NetlinkRequestError } from '../../netlink/errors.js';
import type { StepOutcome } from '../kernel/virtual-servers.js';

/** Something that the kernel refused. */
export interface Refusal<T> {
  readonly what: T;
  readonly reason: string;
  /** Nothing about the step is to blame, as when the kernel is out of memory. */
  readonly isTemporary: boolean;
}

/** How a batch of steps went. */
export interface Outcome<T> {
  /** Steps done. */
  readonly written: number;
  readonly refused: readonly Refusal<T>[];
}

/** A step, what it is about, and how it is remembered once it is done. */
export interface PlannedStep<S, T> {
  readonly step: S;
  readonly about: T;
  readonly done: () => void;
}

/** Takes the steps and remembers those that were done. Where several steps are about one thing, its first refusal counts. */
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
