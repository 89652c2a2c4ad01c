import { placesOf, FrontendMap } from '../../domain/conntrack/frontend-map.js';
import {
  leadsThrough,
  type Flow,
  responsivenessAfter,
  unresponsiveEndpoints,
  type Responsiveness,
  type ConnectionActivity,
} from '../../domain/conntrack/flow.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace, lackedBy, type Endpoint } from '../../domain/model/endpoint.js';
import { append } from '../../domain/model/maps.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { ConnectionTable } from '../ports/node/endpoint-connections.js';
import {
  ConntrackUnavailableError,
  type Conntrack,
  type FoundConnection,
  type WatchedProtocol,
} from '../ports/node/conntrack.js';

/** How long the connections of an endpoint are watched, in milliseconds. */
const WATCHED = 5 * 60_000;
/** Until the first poll: endpoints of a node that died go one after the other, and are searched for together. */
const BEFORE_FIRST_POLL = 1_000;
const POLL_PERIOD = 2_000;
/** Looks take at most this part of the time. */
const PART_OF_TIME = 1 / 20;
/** More are not monitored: each takes a few hundred bytes, and polling all of them takes a second. */
const MOST_CONNECTIONS = 65_536;

/** An endpoint that stopped serving a service port. */
interface GoneEndpoint {
  readonly id: string;
  readonly endpoint: Endpoint;
  /** The entry by which clients reached it. */
  readonly entry: ForwardingEntry;
  /** As of the clock's `steady`. */
  readonly until: number;
  /** Its connections have been searched for. */
  isSearched: boolean;
  /** Some of its connections are not watched. */
  hasOthers: boolean;
}

interface WatchedConnection {
  readonly of: GoneEndpoint;
  responsiveness: Responsiveness;
}

/**
 * Use case ResetDeadConnections: removes the established connections of one family and protocol, TCP or SCTP, whose endpoint no longer serves and is
 * unresponsive, from the table of tracked connections. The client's next packet then is a new connection for the kernel, goes to
 * an endpoint that does not know it, and is answered with a reset (of SCTP, an ABORT): the client need not wait until it gives up. Connections
 * that still get answers stay, in any state of their endpoint: it may only be draining. If another connection table
 * has the connections, too, those of an endpoint end together, when one is unresponsive and none is answered.
 *
 * It follows what is programmed:
 * - *idle* while every endpoint serves that did.
 * - *watching*, for five minutes after an endpoint stopped serving a service port, or until it serves it again. A second
 *   after the change its connections are searched for, once, together with those of other endpoints that went. From then on
 *   each connection is looked at by itself every two seconds, which is no search; less often where there are so many that it
 *   would take more than a twentieth of the time. `Responsiveness` defines the dead ones.
 * - *off* for good when the table is unavailable, which is logged once, and after `stop`.
 */
export class ResetDeadConnections implements ForwardingListener {
  private state: 'idle' | 'watching' | 'off' = 'idle';
  private readonly entries = new Map<ServicePortKey, ForwardingEntry>();
  private readonly gone = new Map<string, GoneEndpoint>();
  private readonly connections = new Map<FoundConnection, WatchedConnection>();
  private timer: Timer | undefined;
  private work: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  /** It was tried. */
  private countsPackets = false;
  private isFailing = false;
  private isFull = false;

  constructor(
    readonly family: IpFamily,
    private readonly protocol: WatchedProtocol,
    private readonly conntrack: Pick<Conntrack, 'countPackets' | 'find' | 'poll'>,
    private readonly metrics: Pick<Metrics, 'connectionsReset' | 'connectionsUnwatched'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly connectionTable?: ConnectionTable,
  ) {}

  programmed({ changes, failed }: Programmed): void {
    if (this.state === 'off') return;
    for (const { key, entry } of changes)
      if (!failed.has(key)) this.replace(key, entry?.name.protocol === this.protocol ? entry : undefined);
    if (this.protocol === 'SCTP' && this.entries.size > 0) this.countPackets();
    if (this.state === 'idle' && this.gone.size > 0) this.schedule(BEFORE_FIRST_POLL);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.turnOff();
    this.stopping.abort();
    await this.work;
  }

  private countPackets(): void {
    if (this.countsPackets) return;
    this.countsPackets = true;
    try {
      this.conntrack.countPackets();
    } catch (error) {
      const { family, logger } = this;
      logger.warn(
        { family, error },
        'packets of SCTP associations are not counted; associations with removed endpoints will not be reset',
      );
    }
  }

  private replace(key: ServicePortKey, after: ForwardingEntry | undefined): void {
    const before = this.entries.get(key);
    if (after) this.entries.set(key, after);
    else this.entries.delete(key);
    if (!before && this.gone.size === 0) return;
    const [former, serving] = [before?.flowEligibleEndpoints ?? [], after?.flowEligibleEndpoints ?? []];
    if (former === serving) return;
    for (const endpoint of lackedBy(former, serving)) this.gone.delete(`${key} ${endpointPlace(endpoint)}`);
    for (const endpoint of lackedBy(serving, former)) this.watch(before!, endpoint);
  }

  private watch(entry: ForwardingEntry, endpoint: Endpoint): void {
    const id = `${entry.key} ${endpointPlace(endpoint)}`;
    const until = this.clock.steady() + WATCHED;
    this.gone.set(id, { id, endpoint, entry, until, isSearched: false, hasOthers: false });
  }

  private schedule(delay: number): void {
    this.state = 'watching';
    this.timer = this.clock.after(delay, () => {
      this.work = this.run();
    });
  }

  private async run(): Promise<void> {
    const start = this.clock.steady();
    const problem = await this.attempt(start);
    if (this.isOff()) return;
    if (problem !== undefined && !this.isFailing)
      this.logger.warn(
        { family: this.family, error: problem },
        'cannot poll connections of removed endpoints; will retry',
      );
    this.isFailing = problem !== undefined;
    if (this.gone.size > 0)
      return this.schedule(Math.max(POLL_PERIOD, (this.clock.steady() - start) / PART_OF_TIME));
    this.state = 'idle';
    this.isFull = false;
  }

  /** Returns why some connections were not looked at; undefined when all were. */
  private async attempt(now: number): Promise<unknown> {
    for (const [id, { until }] of this.gone) if (until <= now) this.gone.delete(id);
    this.forgetConnections();
    try {
      return (await this.search()) ?? (await this.poll());
    } catch (error) {
      if (this.stopping.signal.aborted) return undefined;
      if (!(error instanceof ConntrackUnavailableError)) return error;
      const { family } = this;
      this.logger.warn(
        { family, error },
        'connection tracking is unavailable; connections of removed endpoints will not be reset',
      );
      this.turnOff();
      return undefined;
    }
  }

  private async search(): Promise<Error | undefined> {
    const searched = [...this.gone.values()].filter(({ isSearched }) => !isSearched);
    if (searched.length === 0) return undefined;
    const byPlace = new Map<string, GoneEndpoint[]>();
    const addresses = new FrontendMap<true>();
    for (const one of searched) {
      append(byPlace, endpointPlace(one.endpoint), one);
      addresses.set(one.endpoint, true);
    }
    const goneOf = (flow: Flow): GoneEndpoint | undefined =>
      byPlace.get(flow.replySource)?.find(({ entry }) => leadsThrough(flow, entry.frontends));
    let room = MOST_CONNECTIONS - this.connections.size;
    let unwatched = 0;
    const { signal } = this.stopping;
    const isWanted = (flow: Flow): boolean => {
      const of = goneOf(flow);
      if (!of) return false;
      if (room > 0) return room-- > 0;
      of.hasOthers = true;
      unwatched++;
      return false;
    };
    const { found, problem } = await this.conntrack.find(
      this.family,
      this.protocol,
      placesOf(addresses),
      isWanted,
      signal,
    );
    if (problem) return problem;
    for (const one of searched) one.isSearched = true;
    for (const connection of found)
      this.connections.set(connection, { of: goneOf(connection)!, responsiveness: 'answered' });
    if (unwatched > 0) this.tooMany(unwatched);
    return undefined;
  }

  private async poll(): Promise<Error | undefined> {
    const { family, connections } = this;
    if (connections.size === 0) return undefined;
    const unresponsive = new Map<ServicePortKey, number>();
    const isDead = (connection: FoundConnection, look: ConnectionActivity | undefined): boolean => {
      const watched = connections.get(connection);
      if (!watched) return false;
      const { of } = watched;
      const isUnresponsive =
        look !== undefined &&
        (watched.responsiveness = responsivenessAfter(watched.responsiveness, look)) === 'unresponsive';
      if (!look || (isUnresponsive && !this.connectionTable)) connections.delete(connection);
      // It may serve again since this poll began.
      if (!isUnresponsive || this.connectionTable || this.gone.get(of.id) !== of) return false;
      unresponsive.set(of.entry.key, (unresponsive.get(of.entry.key) ?? 0) + 1);
      return true;
    };
    const { deleted, problem } = await this.conntrack.poll(
      family,
      connections.keys(),
      isDead,
      this.stopping.signal,
    );
    this.report(deleted, unresponsive);
    if (this.connectionTable) await this.resetTogether(this.connectionTable);
    return problem;
  }

  /** Ends the connections of endpoints that appear dead as a whole. */
  private async resetTogether(table: ConnectionTable): Promise<void> {
    const { family, connections, gone } = this;
    for (const [of, count] of unresponsiveEndpoints(connections.values())) {
      if (of.hasOthers || gone.get(of.id) !== of) continue;
      await table.giveUp(family, of.endpoint, of.entry.frontends);
      gone.delete(of.id);
      for (const [connection, watched] of connections) if (watched.of === of) connections.delete(connection);
      this.report(count, new Map([[of.entry.key, count]]));
    }
    this.forgetConnections();
  }

  /** Those of endpoints that are watched no more. */
  private forgetConnections(): void {
    for (const [connection, { of }] of this.connections)
      if (this.gone.get(of.id) !== of) this.connections.delete(connection);
  }

  private report(deleted: number, unresponsive: ReadonlyMap<ServicePortKey, number>): void {
    if (deleted === 0) return;
    const { family } = this;
    this.metrics.connectionsReset(family, deleted);
    const servicePorts = Object.fromEntries(unresponsive);
    this.logger.info(
      { family, deleted, servicePorts },
      'reset connections of removed, unresponsive endpoints',
    );
  }

  private tooMany(unwatched: number): void {
    const { family } = this;
    this.metrics.connectionsUnwatched(family, unwatched);
    if (!this.isFull)
      this.logger.warn(
        { family, unwatched, watched: this.connections.size },
        'too many connections of removed endpoints; some are not monitored',
      );
    this.isFull = true;
  }

  private turnOff(): void {
    this.state = 'off';
    this.timer?.cancel();
    this.gone.clear();
    this.connections.clear();
  }

  /** A method, because the state changes while a run waits. */
  private isOff(): boolean {
    return this.state === 'off';
  }
}
