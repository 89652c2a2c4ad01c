import type { ServiceDescription } from '../cluster/service-description.js';
import type { Random } from '../world/random.js';
import type { WorldSettings } from '../world/settings.js';
import type { Simulation } from '../simulation.js';

/** What a generator of steps knows of the world so far. */
export interface Plan {
  readonly settings: WorldSettings;
  readonly random: Random;
  /** Services that are there, by their names. */
  readonly services: Map<string, ServiceDescription>;
  /** A number that was not given before. */
  next(): number;
}

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
