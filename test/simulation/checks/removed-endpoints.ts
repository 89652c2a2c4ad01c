import { getOrMake } from '../../../src/domain/model/maps.js';
import type { Simulation } from '../simulation.js';
import type { Course } from './cluster-history.js';
import { placesOf, type Fate } from './fate.js';
import type { Probe, ProbedFrontend } from './probes.js';

/** An endpoint that a packet reaches in some states of a Service only, and in none that follows on one in which it does not. */
interface Leaving {
  readonly place: string;
  /** The same text for packets to the same frontend that reach it in the same states. */
  readonly states: string;
}

/**
 * Once packets do not reach an endpoint any more that is removed, none does later: nothing that the program may hear leads back to it.
 * Each packet for itself may meet any state (`EveryCommit`), which says nothing of steps back.
 */
export class RemovedEndpoints {
  /** By frontend, client and endpoint, what was seen not to be reached since the program had everything last. */
  private readonly gone = new Set<string>();
  private settlements = 0;
  /** Probes are other objects as soon as something is written to the cluster. */
  private readonly leaving = new WeakMap<Probe, readonly Leaving[]>();

  constructor(private readonly simulation: Simulation) {}

  /** A packet to a frontend of this Service fares so after a commit. */
  see(service: string, { frontend, isShared, port }: ProbedFrontend, probe: Probe, fate: Fate): void {
    const { history } = this.simulation;
    if (isShared || !history.isTouched(service) || !this.goesOnlyOn()) return;
    if (this.settlements !== history.settlements) this.gone.clear();
    this.settlements = history.settlements;
    const leaving = getOrMake(this.leaving, probe, () => this.leavingOf(service, probe));
    if (leaving.length === 0) return;
    const { kind, address = 'node', port: number } = frontend;
    const { client } = probe;
    const from = `from ${client.kind} ${client.source}`;
    const at = `${port.key} at ${address} ${number}`;
    const places = placesOf(fate);
    for (const { place, states } of leaving) {
      // One transaction of mode nftables changes what becomes of all packets; in the others some change before others.
      const ways = this.simulation.mode === 'nftables' ? [from, `in ${states}`] : [from];
      const seen = ways.map((way) => `${port.family} ${kind} ${at} ${way} ${place}`);
      if (!places.includes(place)) for (const each of seen) this.gone.add(each);
      else if (seen.some((each) => this.gone.has(each)))
        this.simulation.breaks(
          'no way back to removed endpoints',
          `${at} ${from}: ${fate}; ${place} had been removed`,
        );
    }
  }

  /**
   * Ejected endpoints come back. Of two modes either may answer, and in mode userspace the process does. What is refused in the middle has
   * its former rules again, in modes that write in several steps (docs/behavior/recovery.md).
   */
  private goesOnlyOn(): boolean {
    const { history, mayBeEjected, mode, modes, refusedSince, settledBy, world } = this.simulation;
    if (mayBeEjected.size > 0) return false;
    if (history.mayGoBack(world.proxy === settledBy ? 'same' : 'other')) return false;
    return modes.size === 1 && mode !== 'userspace' && (mode === 'nftables' || refusedSince === Infinity);
  }

  private leavingOf(service: string, { inStates }: Probe): readonly Leaving[] {
    const { history } = this.simulation;
    const course = history.course(service);
    const reached = inStates().map((fates) => new Set(fates.flatMap(placesOf)));
    return [...reached[course.states[0]!]!].flatMap((place) => {
      const isThere = reached.map((places) => places.has(place));
      const states = `${history.version} ${isThere.join()}`;
      return isThere.includes(false) && !mayComeBack(isThere, course) ? [{ place, states }] : [];
    });
  }
}

/** Whether an endpoint is there in a state that may follow on one in which it is not. */
function mayComeBack(
  isThere: readonly boolean[],
  { lengths: [, services, slices], states }: Course,
): boolean {
  const isMissing = (index: number): boolean => !isThere[states[index]!]!;
  return states.some(
    (state, index) =>
      isThere[state]! &&
      ((index % slices > 0 && isMissing(index - 1)) ||
        (Math.floor(index / slices) % services > 0 && isMissing(index - slices)) ||
        (index >= services * slices && isMissing(index - services * slices))),
  );
}
