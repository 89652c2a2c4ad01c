import { Simulation } from '../simulation.js';
import type { Violation } from '../checks/violation.js';
import type { Schedule } from './schedule.js';

/** How many worlds are tried at most. */
const ATTEMPTS = 300;

/** A schedule that breaks a promise, with as few steps as could be found. */
export async function shrunk(
  schedule: Schedule,
  violation: Violation,
): Promise<{ schedule: Schedule; violation: Violation }> {
  let best = { schedule, violation };
  let attempts = 0;
  for (
    let size = Math.ceil(schedule.steps.length / 2);
    size >= 1;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let from = best.schedule.steps.length - size; from >= 0 && attempts < ATTEMPTS; from -= size) {
      const steps = best.schedule.steps.filter(
        ({ name }, index) => name === 'start' || index < from || index >= from + size,
      );
      attempts++;
      const candidate = { ...best.schedule, steps };
      const outcome = await new Simulation(candidate).run();
      if (outcome.violation?.promise === violation.promise)
        best = { schedule: candidate, violation: outcome.violation };
    }
  }
  return best;
}
