import type { Plan } from '../../schedule/plan.js';
import type { Simulation } from '../../simulation.js';

/** Something that another program of the machine does. */
export interface Deed {
  /** Whether it takes or changes what is the proxy's. */
  readonly isHarm: boolean;
  /** Where it can happen. */
  isPossible(plan: Plan): boolean;
  /** @param choice which one is meant of several, as a number from 0 to 999 */
  do(simulation: Simulation, choice: number): void;
}

/** One of them; undefined if there are none. */
export function chosenOf<T>(all: readonly T[], choice: number): T | undefined {
  return all[choice % all.length];
}

/** The numbers of processes of others. */
export const STRANGER = 700_001;
