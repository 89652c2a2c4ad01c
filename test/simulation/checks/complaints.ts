import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { repairedUntil } from './budgets.js';
import type { LogLine } from '../world/simulated-logger.js';
import { REMAIN } from './verifications.js';

const HARMLESS: ReadonlySet<string> = new Set(['put', 'delete', 'flows']);

const REPAIRED = 'another program changed the rules; repaired them';

/**
 * Milliseconds after which no connection to the API server is silent any more: TCP asks an idle one after 30 s, ten times a second apart, and a
 * request that one was used for until then is given up after 60 s without a response.
 */
const SILENCE_ENDS = 100_000;

/** Milliseconds within which it is told of a program that was given up: what remains of what it was part of comes before. */
const TOLD = 1_000;

/** How many lines were logged so far. */
export function linesSoFar({ world }: Simulation): number {
  return world.log.length;
}

/**
 * A warning or an error in the log, from this line on, although users only changed Services; undefined if there is none. Mode userspace has
 * none for SCTP, and says so. That a connection is silent shows later than the trouble that left it so; what others wrote, if no packet
 * tells of it, when the rules are compared; and that a program hangs, which was started in trouble, when it is given up after a minute.
 */
export function complaint(simulation: Simulation, steps: readonly Step[], from: number): string | undefined {
  const { world, mode, modes, silencedAt } = simulation;
  if (mode === 'userspace' || modes.size > 1) return undefined;
  if (steps.some(({ name }) => !HARMLESS.has(name))) return undefined;
  const isExpected = ({ at, facts, message }: LogLine): boolean => {
    const { caller, attempt = 1 } = facts as { readonly caller?: string; readonly attempt?: number };
    if (caller === 'cluster-source') return at < silencedAt + SILENCE_ENDS;
    if (world.proxy.children.some(({ givenUpAt = Infinity }) => at >= givenUpAt && at < givenUpAt + TOLD))
      return true;
    // The first attempt was in trouble, and all may be quiet before the next one.
    if (message === REMAIN && attempt > 1) return true;
    return message === REPAIRED && at < repairedUntil(simulation);
  };
  const line = world.log
    .slice(from)
    .find((each) => (each.level === 'warn' || each.level === 'error') && !isExpected(each));
  return line && `${line.level} ${line.message} ${JSON.stringify(line.facts)}`;
}
