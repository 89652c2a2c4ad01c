import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { mayRepair } from './budgets.js';
import type { LogLine } from '../world/simulated-logger.js';

const HARMLESS: ReadonlySet<string> = new Set(['put', 'delete', 'flows']);

const REPAIRED = 'another program changed the rules; repaired them';

/**
 * Milliseconds after which no connection to the API server is silent any more: TCP asks an idle one after 30 s, ten times a second apart, and a
 * request that one was used for until then is given up after 60 s without a response.
 */
const SILENCE_ENDS = 100_000;

/** How many lines were logged so far. */
export function linesSoFar({ world }: Simulation): number {
  return world.log.length;
}

/**
 * A warning or an error in the log, from this line on, although users only changed Services; undefined if there is none. Mode userspace has
 * none for SCTP, and says so. That a connection is silent shows later than the trouble that left it so, and what others wrote, if no packet
 * tells of it, when the rules are compared.
 */
export function complaint(simulation: Simulation, steps: readonly Step[], from: number): string | undefined {
  const { world, mode, modes, silencedAt } = simulation;
  if (mode === 'userspace' || modes.size > 1) return undefined;
  if (steps.some(({ name }) => !HARMLESS.has(name))) return undefined;
  const isExpected = ({ at, facts, message }: LogLine): boolean => {
    const { caller } = facts as { readonly caller?: string };
    if (caller === 'cluster-source') return at < silencedAt + SILENCE_ENDS;
    return message === REPAIRED && mayRepair(simulation, at);
  };
  const line = world.log
    .slice(from)
    .find((each) => (each.level === 'warn' || each.level === 'error') && !isExpected(each));
  return line && `${line.level} ${line.message} ${JSON.stringify(line.facts)}`;
}
