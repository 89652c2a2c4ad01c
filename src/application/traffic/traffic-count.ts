import { LastingProblem } from '../message-rate.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import { nextShift, shiftFor, type TrafficLoad, type CountingFacts } from '../../domain/traffic/sample.js';
import { ServiceFrontends, type FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import { snapshotOf, type TrafficSnapshot } from '../../domain/traffic/traffic-snapshot.js';
import { TrafficTable, type PortTraffic } from '../../domain/traffic/traffic-table.js';
import { delay } from '../retries.js';
import { errorMessage } from '../error-message.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { FlowEvents, FlowSink } from '../ports/node/flow-events.js';
import type { Logger } from '../ports/logger.js';

/** How often events are read, in milliseconds. */
const READ_EVERY = 100;
/** How often frontends, load and sample are looked at, and the least time between the beginnings of two walks. */
const CHECK_PERIOD = 1_000;
/** So many connections are walked through without a pause; with it, some 15,000 in a second: some hundredths of a core. */
const WALKED_AT_ONCE = 1_000;
const PAUSE = 50;
/** A further pause between walks while only evidence is needed: walks then only find what events missed. Milliseconds. */
const SELDOM = 30_000;
/** Until the next walk after one that failed. */
const AFTER_FAILURE = 5_000;
/** So many quiet seconds in a row before a larger sample is taken, which means counting from the start. */
const QUIET_CHECKS = 10;

/** The existing service ports. */
export interface TrafficSources {
  /** The forwarding entries of all families. */
  entries(): Iterable<ForwardingEntry>;
  /** Where node ports are. */
  localAddresses(): Iterable<string>;
}

/**
 * Counts the connections of Services: reads the kernel's events, and walks through its table over and over, slowly. When that
 * is too much, it counts a sample. `start` once, then `stop`.
 */
export class TrafficCount {
  private readonly frontends = new ServiceFrontends();
  private readonly table = new TrafficTable((flow) => this.frontends.ownerOf(flow));
  private readonly stopping = new AbortController();
  private readonly sink: FlowSink = {
    began: (flow) => this.table.began(flow, this.clock.steady()),
    changed: (flow) => this.table.changed(flow, this.clock.steady()),
    ceased: (flow) => this.table.ceased(flow, this.clock.steady()),
  };
  /** Aborted to do without the further rest. */
  private resting = new AbortController();
  private walksSeldom = false;
  private reading: Timer | undefined;
  private walks: Promise<void> = Promise.resolve();
  private wholeWalks = 0;
  /** Connections that the present walk has met. */
  private walked = 0;
  private timesLost = 0;
  private readonly problem = new LastingProblem();
  private events = 0;
  private checkedAt = 0;
  private quietChecks = 0;

  constructor(
    private readonly flowEvents: FlowEvents,
    private readonly sources: TrafficSources,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws ConntrackUnavailableError */
  start(): void {
    const { flowEvents, clock } = this;
    this.follow();
    flowEvents.sample(this.shiftAtFirst());
    flowEvents.open();
    this.checkedAt = clock.steady();
    this.readLater();
    this.walks = this.keepWalking();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.resting.abort();
    this.reading?.cancel();
    await this.walks;
    this.flowEvents.close();
  }

  /**
   * Whether numbers of open connections and bytes are needed, as at first, or only evidence, which costs less. Numbers
   * are complete again after the next walk.
   */
  wantNumbers(wanted: boolean): void {
    if (wanted && this.walksSeldom) {
      this.wholeWalks = 0;
      this.resting.abort();
    }
    this.walksSeldom = !wanted;
  }

  snapshot(): TrafficSnapshot {
    this.read();
    const steady = this.clock.steady();
    this.tidy(steady);
    return snapshotOf(this.table, (key) => this.frontends.entry(key), { time: this.clock.now(), steady });
  }

  /** The current connections of all service ports, while counting continues: nothing is copied. */
  ports(): ReadonlyMap<FamilyPortKey, PortTraffic> {
    this.read();
    this.tidy(this.clock.steady());
    return this.table.ports();
  }

  facts(): CountingFacts {
    const { count, countsBytes, tracksServices, hidesDeadOnBridges } = this.flowEvents.table();
    return {
      complete: this.wholeWalks > 0,
      readRatio: this.wholeWalks > 0 ? 1 : Math.min(1, this.walked / Math.max(1, count)),
      samplingRate: 2 ** this.table.shift,
      eventLosses: this.timesLost,
      trackedConnections: count,
      bytesCounted: countsBytes,
      servicesTracked: tracksServices,
      bridgedHidden: hidesDeadOnBridges,
    };
  }

  entries(): Iterable<ForwardingEntry> {
    return this.frontends.entries();
  }

  private shiftAtFirst(): number {
    const shift = shiftFor({ tracked: this.flowEvents.table().count, eventsPerSecond: 0 });
    this.table.sample(shift);
    return shift;
  }

  private readLater(): void {
    this.reading = this.clock.after(READ_EVERY, () => {
      this.read();
      this.check();
      this.readLater();
    });
  }

  private read(): void {
    const { count, lost } = this.flowEvents.read(this.sink);
    this.events += count;
    if (!lost) return;
    this.timesLost++;
    this.resting.abort();
    this.logger.debug(
      { timesLost: this.timesLost },
      'connection events were lost; the next listing of the table recovers them',
    );
  }

  /** Every second. */
  private check(): void {
    const now = this.clock.steady();
    const seconds = (now - this.checkedAt) / 1_000;
    if (now - this.checkedAt < CHECK_PERIOD) return;
    const eventsPerSecond = (this.events * 2 ** this.table.shift) / seconds;
    this.checkedAt = now;
    this.events = 0;
    this.follow();
    this.tidy(now);
    this.chooseSample({ tracked: this.flowEvents.table().count, eventsPerSecond });
  }

  private follow(): void {
    this.frontends.follow(this.sources.entries(), this.sources.localAddresses());
  }

  private tidy(now: number): void {
    this.table.tidy(now, (port) => {
      const entry = this.frontends.entry(port);
      return entry && new Set(entry.endpoints.reachable.map(endpointPlace));
    });
  }

  private chooseSample(load: TrafficLoad): void {
    const { shift } = this.table;
    const next = nextShift(shift, load);
    this.quietChecks = next < shift ? this.quietChecks + 1 : 0;
    if (next === shift || (next < shift && this.quietChecks < QUIET_CHECKS)) return;
    this.quietChecks = 0;
    this.flowEvents.sample(next);
    this.table.sample(next);
    // Connections that were left out are known only after another walk.
    if (next < shift) {
      this.wholeWalks = -1;
      this.resting.abort();
    }
    this.logger.debug({ oneIn: 2 ** next, ...load }, 'the sampling ratio of connections has changed');
  }

  private async keepWalking(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const begun = this.clock.steady();
      this.resting = new AbortController();
      const isComplete = await this.walk();
      const rest = isComplete ? CHECK_PERIOD - (this.clock.steady() - begun) : AFTER_FAILURE;
      await this.sleep(Math.max(rest, PAUSE));
      if (this.walksSeldom && this.wholeWalks > 0) await delay(this.clock, SELDOM, this.resting.signal);
    }
  }

  /** Returns whether the walk was complete. */
  private async walk(): Promise<boolean> {
    const { table, clock, stopping } = this;
    let sincePause = 0;
    this.walked = 0;
    table.walkBegins();
    try {
      await this.flowEvents.walk(
        (flow) => table.found(flow, clock.steady()),
        async (more) => {
          this.walked += more;
          sincePause += more;
          if (sincePause < WALKED_AT_ONCE) return;
          sincePause = 0;
          await this.sleep(PAUSE);
        },
        stopping.signal,
      );
      // Ended connections are reported by an event, if any.
      this.read();
      table.walkEnds();
      this.wholeWalks++;
      this.problem.end();
      return true;
    } catch (error) {
      if (!stopping.signal.aborted)
        this.logger[this.problem.level(error, 'warn')](
          { error: errorMessage(error) },
          'cannot list the tracked connections; traffic counts are incomplete; will retry',
        );
      return false;
    }
  }

  private sleep(milliseconds: number): Promise<void> {
    return delay(this.clock, milliseconds, this.stopping.signal);
  }
}
