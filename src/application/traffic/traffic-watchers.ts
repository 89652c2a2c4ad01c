import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { CountingFacts } from '../../domain/traffic/sample.js';
import type { TrafficSnapshot } from '../../domain/traffic/traffic-snapshot.js';
import type { PortTraffic } from '../../domain/traffic/traffic-table.js';
import { delay } from '../retries.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { TrafficCount } from './traffic-count.js';
import { NamedError } from '../../domain/model/named-error.js';

/** They share one count, but each has reports made for itself. */
const MOST_WATCHERS = 8;
/** How long counting continues without a watcher, in milliseconds: a watcher that returns in time finds complete counts. */
const LINGER = 10_000;
/** How often to check whether the first listing of the kernel's table is complete. */
const CHECK_EVERY = 100;

/** There are as many watchers as may be. */
export class TooManyWatchersError extends NamedError {
  constructor() {
    super(`${MOST_WATCHERS} other clients already watch the traffic; try again later`);
  }
}

/**
 * Makes a report of the traffic between two snapshots.
 * @param entries all service ports, with traffic or without
 */
export type MakeReport<Query, Report> = (
  before: TrafficSnapshot,
  after: TrafficSnapshot,
  query: Query,
  facts: CountingFacts,
  entries: Iterable<ForwardingEntry>,
) => Report;

/** One who watches the traffic. */
export interface TrafficWatch<Query, Report> {
  /**
   * Resolves when the counting is complete; what was counted before is then no part of a report.
   * @throws the signal's reason
   */
  complete(signal: AbortSignal): Promise<void>;
  /**
   * Waits for a time in milliseconds, and reports what happened since the last report, or since it came.
   * @throws the signal's reason
   */
  next(query: Query, milliseconds: number, signal: AbortSignal): Promise<Report>;
  /** Idempotent. */
  leave(): void;
}

/** Numbers of connections and bytes as they are at any time, or only the evidence of endpoints, which costs less. */
export type KeptFor = 'numbers' | 'evidence';

/** The current counts and their method. */
export interface Counted {
  readonly ports: ReadonlyMap<FamilyPortKey, PortTraffic>;
  readonly facts: CountingFacts;
}

/** How many open connections the endpoints of a service port have, by `ip:port`. */
export function openConnections({ ports, facts }: Counted, port: FamilyPortKey): (place: string) => number {
  const endpoints = ports.get(port)?.endpoints;
  return (place) => (endpoints?.get(place)?.open ?? 0) * facts.samplingRate;
}

/** Those who watch the traffic. Connections are counted only while there are any, and for some seconds after. */
export class TrafficWatchers {
  private readonly present = new Set<symbol>();
  private stopped = false;
  /** Users of the counts that do not watch. */
  private readonly keepers = new Map<symbol, KeptFor>();
  private count: TrafficCount | undefined;
  private lingering: Timer | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    /** Makes what counts, not started. */
    private readonly makeCount: () => TrafficCount,
    private readonly clock: Clock,
  ) {}

  /** @throws TooManyWatchersError, ConntrackUnavailableError */
  watch<Query, Report>(makeReport: MakeReport<Query, Report>): TrafficWatch<Query, Report> {
    if (this.present.size >= MOST_WATCHERS) throw new TooManyWatchersError();
    const count = this.running();
    let before: TrafficSnapshot = count.snapshot();
    const watcher = Symbol('watcher');
    this.present.add(watcher);
    this.choosePace();
    return {
      complete: async (signal) => {
        while (!count.facts().complete) {
          await delay(this.clock, CHECK_EVERY, signal);
          signal.throwIfAborted();
        }
        before = count.snapshot();
      },
      next: async (query, milliseconds, signal) => {
        await delay(this.clock, milliseconds, signal);
        signal.throwIfAborted();
        const after = count.snapshot();
        const report = makeReport(before, after, query, count.facts(), count.entries());
        before = after;
        return report;
      },
      leave: () => this.leave(watcher),
    };
  }

  /**
   * Counts from now on, with or without watchers, until the returned function is called. After the stop nothing is counted any more.
   * @throws ConntrackUnavailableError
   */
  keepCounting(what: KeptFor): () => void {
    if (this.stopped) return () => {};
    this.running();
    const keeper = Symbol(what);
    this.keepers.set(keeper, what);
    this.choosePace();
    return () => {
      if (this.keepers.delete(keeper)) this.lingerIfUnused();
    };
  }

  /** The live counts; undefined when nothing is counted. */
  counted(): Counted | undefined {
    return this.count && { ports: this.count.ports(), facts: this.count.facts() };
  }

  /** The counts so far; undefined when nothing is counted. */
  snapshot(): TrafficSnapshot | undefined {
    return this.count?.snapshot();
  }

  /** Ends the counting. Watchers must have left, or leave when their signal is aborted. Idempotent. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.lingering?.cancel();
    this.end();
    await this.ended;
  }

  private running(): TrafficCount {
    if (this.stopped) throw new Error('the proxy is stopping');
    this.lingering?.cancel();
    if (this.count) return this.count;
    const count = this.makeCount();
    count.start();
    return (this.count = count);
  }

  private leave(watcher: symbol): void {
    if (this.present.delete(watcher)) this.lingerIfUnused();
  }

  /** Without users the pace stays the same. */
  private choosePace(): void {
    const wants = [...this.keepers.values()];
    if (this.present.size + wants.length === 0) return;
    this.count?.wantNumbers(this.present.size > 0 || wants.includes('numbers'));
  }

  private lingerIfUnused(): void {
    this.choosePace();
    if (this.present.size > 0 || this.keepers.size > 0 || this.stopped) return;
    this.lingering?.cancel();
    this.lingering = this.clock.after(LINGER, () => this.end());
  }

  private end(): void {
    const { count } = this;
    this.count = undefined;
    if (count) this.ended = Promise.all([this.ended, count.stop()]).then(() => undefined);
  }
}
