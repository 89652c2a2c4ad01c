import { UNRESPONSIVE_AFTER, type Evidence, type UnansweredConnection } from '../traffic/endpoint-traffic.js';
import { mostEjected } from './ejected-endpoints.js';

/** Connections of an endpoint that is not on trial must have begun within this time. Milliseconds. */
const RECENT = 10_000;
/** The time between two attempts of this node to connect, and how long one counts: it takes a second, and the next check may be as late. */
const [BETWEEN_ATTEMPTS, ATTEMPT_COUNTS] = [2_000, 3_000] as const;
/** The number of clients needed where this node cannot connect itself. */
const SEVERAL_CLIENTS = 2;
const FIRST_TIME = 30_000;
const LONGEST_TIME = 300_000;

/** An ejected endpoint. Times are of the steady clock. */
export interface Ejection {
  readonly since: number;
  /** When it is tried again. */
  readonly until: number;
  /** How many times in a row it was ejected, this one included. */
  readonly times: number;
}

/** Why an endpoint was ejected: for the first time, or again after it was tried. */
export const EJECTION_REASONS = ['unresponsive', 'still unresponsive'] as const;
/** Why one returned: its time is over; it answered; too many endpoints are unresponsive, so the network is the likely cause. */
export const RETURN_REASONS = ['retry', 'answered', 'most unresponsive'] as const;

/** An endpoint was ejected or returned. */
export type EjectionStep = { readonly place: string } & (
  | { readonly what: 'ejected'; readonly why: (typeof EJECTION_REASONS)[number]; readonly seconds: number }
  | { readonly what: 'returned'; readonly why: (typeof RETURN_REASONS)[number] }
);

/** When this node's own last attempts to connect to an endpoint began, by outcome. */
export interface OwnAttempts {
  readonly answered?: number;
  readonly unanswered?: number;
  readonly impossible?: number;
}

/** A service port at a moment. */
export interface PortObservation {
  /** Of the steady clock. */
  readonly now: number;
  /** For each traffic policy in use, the endpoints for new connections by `ip:port`, ejected ones included. */
  readonly lists: readonly ReadonlySet<string>[];
  readonly evidenceOf: (place: string) => Evidence | undefined;
  readonly ownAttempts: (place: string) => OwnAttempts | undefined;
  /** Connections are counted completely, and no event was lost recently. */
  readonly isReliable: boolean;
}

interface OnTrial {
  readonly since: number;
  readonly times: number;
}

/**
 * Decides which endpoints of one service port are ejected.
 *
 * An endpoint *serves* until its last new connections, three or more of the last ten seconds, got no answer: then it is *ejected*
 * for 30 s. Then it is *on trial*, with its ordinary share of connections. After three connections without an answer, however long
 * they take to come, it is ejected for twice the time, up to five minutes. After one answer it serves, and its history is cleared.
 * An answer while it is ejected, as to a repeated SYN, ends the ejection immediately.
 *
 * Unanswered connections of clients are not enough: packets may be forged. So an endpoint is ejected only if this node cannot
 * connect to it either (`placesToTry`). Connections that began before an answered attempt do not count.
 * Where this node cannot try, as with SCTP, the unanswered connections must be of two clients.
 *
 * No list of endpoints may lose more than half. An endpoint is *suspected* as soon as one recent connection of it got no answer. A
 * list is suspected when more than half of its endpoints are: the network may have failed, so no endpoint is ejected because of
 * that list. Connections that began while all lists were suspected, or while counting was unreliable, never count: an endpoint
 * that has had no connection since a network recovered may work. When more than half of a list is unresponsive, its endpoints
 * return, and their history is cleared. Endpoints that are in no list are forgotten.
 */
export class PortFailover {
  private readonly ejections = new Map<string, Ejection>();
  private readonly trials = new Map<string, OnTrial>();
  /** Connections that began earlier do not count. */
  private trustedSince = -Infinity;

  /** By `ip:port`. */
  get ejected(): ReadonlyMap<string, Ejection> {
    return this.ejections;
  }

  /** Nothing is remembered: without new evidence there is nothing to decide. */
  get isIdle(): boolean {
    return this.ejections.size === 0 && this.trials.size === 0;
  }

  /** To be called about every second while there is evidence, an ejection or a trial. */
  update(observation: PortObservation): readonly EjectionStep[] {
    const { now, lists, isReliable } = observation;
    const listed = new Set(lists.flatMap((list) => [...list]));
    for (const known of [this.ejections, this.trials])
      for (const place of known.keys()) if (!listed.has(place)) known.delete(place);
    const steps = this.returned(observation);
    const recent = (place: string): number => this.recent(place, observation).length;
    const exceeds = (list: ReadonlySet<string>, isOne: (place: string) => boolean): boolean =>
      [...list].filter((place) => this.ejections.has(place) || isOne(place)).length > mostEjected(list.size);
    const unresponsive = lists.filter((list) =>
      exceeds(list, (place) => recent(place) >= UNRESPONSIVE_AFTER),
    );
    const suspected = new Set(lists.filter((list) => exceeds(list, (place) => recent(place) > 0)));
    steps.push(...this.returnedFrom(unresponsive, lists));
    if (!isReliable || suspected.size === lists.length) this.trustedSince = now;
    const trusted = lists.filter((list) => !suspected.has(list));
    for (const place of listed) {
      if (this.ejections.has(place) || !this.isUnresponsive(place, observation)) continue;
      if (trusted.some((list) => list.has(place) && this.mayLoseOne(list)))
        steps.push(this.eject(place, now));
    }
    return steps;
  }

  /** The endpoints to which this node should try to connect. */
  placesToTry(observation: PortObservation): readonly string[] {
    const { now, lists, ownAttempts } = observation;
    const listed = [...new Set(lists.flatMap((list) => [...list]))];
    return listed.filter((place) => {
      const { unanswered = -Infinity, impossible = -Infinity } = ownAttempts(place) ?? {};
      const isDue = now - Math.max(unanswered, impossible) >= BETWEEN_ATTEMPTS;
      return isDue && !this.ejections.has(place) && this.recent(place, observation).length > 0;
    });
  }

  private returned({ now, evidenceOf }: PortObservation): EjectionStep[] {
    const steps: EjectionStep[] = [];
    const hasAnswered = (place: string, since: number): boolean =>
      (evidenceOf(place)?.answered ?? -Infinity) > since;
    for (const [place, { since }] of this.trials) if (hasAnswered(place, since)) this.trials.delete(place);
    for (const [place, { since, until, times }] of this.ejections) {
      const answered = hasAnswered(place, since);
      if (!answered && now < until) continue;
      this.ejections.delete(place);
      if (!answered) this.trials.set(place, { since: now, times });
      steps.push({ place, what: 'returned', why: answered ? 'answered' : 'retry' });
    }
    return steps;
  }

  /** Returns the endpoints that are in no other list. */
  private returnedFrom(
    unresponsive: readonly ReadonlySet<string>[],
    lists: readonly ReadonlySet<string>[],
  ): readonly EjectionStep[] {
    const others = lists.filter((list) => !unresponsive.includes(list));
    const returning = [...this.ejections.keys()].filter((place) => !others.some((list) => list.has(place)));
    for (const place of returning) this.ejections.delete(place);
    return returning.map((place): EjectionStep => ({ place, what: 'returned', why: 'most unresponsive' }));
  }

  private isUnresponsive(place: string, observation: PortObservation): boolean {
    const since = this.since(place, observation);
    const known = this.trials.has(place)
      ? this.unanswered(place, observation)
      : this.recent(place, observation);
    const counted = known.filter(({ begun }) => begun > since);
    if (counted.length < UNRESPONSIVE_AFTER) return false;
    const { unanswered, impossible } = observation.ownAttempts(place) ?? {};
    const counts = (attempt = -Infinity): boolean =>
      attempt > since && observation.now - attempt <= ATTEMPT_COUNTS;
    const clients = new Set(counted.map(({ client }) => client));
    return counts(unanswered) || (counts(impossible) && clients.size >= SEVERAL_CLIENTS);
  }

  /** Connections that began earlier do not count against the endpoint. */
  private since(place: string, { evidenceOf, ownAttempts }: PortObservation): number {
    return Math.max(
      this.trustedSince,
      this.trials.get(place)?.since ?? -Infinity,
      ownAttempts(place)?.answered ?? -Infinity,
      evidenceOf(place)?.answered ?? -Infinity,
    );
  }

  private recent(place: string, observation: PortObservation): readonly UnansweredConnection[] {
    return this.unanswered(place, observation).filter(({ begun }) => observation.now - begun <= RECENT);
  }

  /** Those that an answer to this node does not refute. */
  private unanswered(
    place: string,
    { evidenceOf, ownAttempts }: PortObservation,
  ): readonly UnansweredConnection[] {
    const answered = ownAttempts(place)?.answered ?? -Infinity;
    return evidenceOf(place)?.unanswered.filter(({ begun }) => begun > answered) ?? [];
  }

  private mayLoseOne(list: ReadonlySet<string>): boolean {
    return [...list].filter((place) => this.ejections.has(place)).length < mostEjected(list.size);
  }

  private eject(place: string, now: number): EjectionStep {
    const before = this.trials.get(place);
    this.trials.delete(place);
    const times = (before?.times ?? 0) + 1;
    const time = Math.min(LONGEST_TIME, FIRST_TIME * 2 ** (times - 1));
    this.ejections.set(place, { since: now, until: now + time, times });
    return {
      place,
      what: 'ejected',
      why: before ? 'still unresponsive' : 'unresponsive',
      seconds: time / 1_000,
    };
  }
}
