import type { Simulation } from '../simulation.js';
import type { Plan } from './plan.js';

/** One kind of thing that may happen. */
export interface StepKind {
  readonly name: string;
  /** How often it happens beside the others. */
  readonly weight: number;
  /** What exactly happens; undefined where it cannot happen now. */
  plan(plan: Plan): readonly string[] | undefined;
  /** Lets it happen. */
  perform(simulation: Simulation, args: readonly string[]): void | Promise<void>;
}
