import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';

const HARMLESS: ReadonlySet<string> = new Set(['put', 'delete', 'flows']);

/** How many lines were logged so far. */
export function linesSoFar({ world }: Simulation): number {
  return world.log.length;
}

/**
 * A warning or an error in the log, from this line on, although users only changed Services; undefined if there is none. Mode userspace has
 * none for SCTP, and says so.
 */
export function complaint(
  { world, mode, modes }: Simulation,
  steps: readonly Step[],
  from: number,
): string | undefined {
  if (mode === 'userspace' || modes.size > 1) return undefined;
  if (steps.some(({ name }) => !HARMLESS.has(name))) return undefined;
  const line = world.log.slice(from).find(({ level }) => level === 'warn' || level === 'error');
  return line && `${line.level} ${line.message} ${JSON.stringify(line.facts)}`;
}
