import { servicePortName, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { EndpointTraffic } from '../../domain/traffic/endpoint-traffic.js';
import { delay } from '../retries.js';
import type { Clock } from '../ports/clock.js';
import { ConntrackUnavailableError } from '../ports/node/conntrack.js';
import { openConnections, type Counted, type TrafficWatchers } from './traffic-watchers.js';

/** How long a request waits for the first complete read of the connections, in milliseconds. */
const LONGEST_READ = 1_000;
const CHECK_EVERY = 50;
/** How long unresponsive endpoints are remembered when nothing is counted any more, in milliseconds. */
const REMEMBERED = 300_000;

/** Unanswered connections of endpoints, by `ip:port`. */
export type UnansweredConnections = ReadonlyMap<string, number>;

const NONE: ReadonlyMap<FamilyPortKey, UnansweredConnections> = new Map();

/**
 * Which endpoints do not answer, and how many connections got no answer. Connections are counted only on request: `read` starts
 * that, and it continues for some seconds after the last request. What was found then is remembered for some minutes, so that the
 * verdict on a Service does not change without requests.
 */
export class EndpointAnswers {
  private last = NONE;
  private lastAt = -Infinity;
  private failure: string | undefined;

  constructor(
    private readonly watchers: Pick<TrafficWatchers, 'keepCounting' | 'counted'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads all connections, unless they are being counted, and waits until those that wait for an answer have waited for long enough to
   * judge by. Takes a few milliseconds where every endpoint answers, and two seconds at most; where there are too many
   * connections to read in a second, the next request knows more.
   */
  async read(): Promise<void> {
    const release = this.keepCounting();
    try {
      const { clock } = this;
      const latest = clock.steady() + LONGEST_READ;
      while (this.counted()?.facts.complete === false && clock.steady() < latest)
        await delay(clock, CHECK_EVERY);
      const read = clock.steady();
      while (this.counted()?.facts.complete && this.hasUndecided(read)) await delay(clock, CHECK_EVERY);
    } finally {
      release?.();
    }
  }

  /** Why connections cannot be counted, for people; undefined if they can, as far as is known. */
  get problem(): string | undefined {
    if (this.failure !== undefined) return this.failure;
    return this.counted()?.facts.servicesTracked === false
      ? 'connections through IPVS are not tracked: set net.ipv4.vs.conntrack to 1'
      : undefined;
  }

  /** Connections to the endpoints of a service port that got no answer so far; undefined while nothing is counted. */
  unanswered(port: FamilyPortKey): UnansweredConnections | undefined {
    const counted = this.counted();
    if (!counted) return undefined;
    const endpoints = counted.ports.get(port)?.endpoints ?? [];
    return new Map(Array.from(endpoints, ([place, one]) => [place, unansweredOf(one, counted)]));
  }

  /** Open connections to the endpoints of a service port, by `ip:port`; undefined while nothing is counted. */
  open(port: FamilyPortKey): ((place: string) => number) | undefined {
    const counted = this.counted();
    return counted && openConnections(counted, port);
  }

  /**
   * The endpoints whose last connections, three or more, got no answer, with the number of connections without one, of service ports
   * that have any. None of UDP, which has no answer of its own. Whether they are ready is not known here. Costs what is counted.
   */
  unresponsive(): ReadonlyMap<FamilyPortKey, UnansweredConnections> {
    const counted = this.counted();
    const now = this.clock.steady();
    if (counted?.facts.complete) {
      this.last = this.found(counted);
      this.lastAt = now;
    } else if (now >= this.lastAt + REMEMBERED) this.last = NONE;
    return this.last;
  }

  private found(counted: Counted): ReadonlyMap<FamilyPortKey, UnansweredConnections> {
    const found = new Map<FamilyPortKey, UnansweredConnections>();
    for (const [port, { endpoints }] of counted.ports) {
      if (isUdp(port)) continue;
      const known = this.last.get(port);
      const unresponsive = new Map<string, number>();
      for (const [place, endpoint] of endpoints) {
        if (endpoint.unresponsive) unresponsive.set(place, unansweredOf(endpoint, counted));
        // After a new start of the counting it takes a second until an endpoint that was unresponsive is so again.
        else if (endpoint.waitingSince !== undefined && known?.has(place))
          unresponsive.set(place, known.get(place)!);
      }
      if (unresponsive.size > 0) found.set(port, unresponsive);
    }
    return found;
  }

  private keepCounting(): (() => void) | undefined {
    try {
      const release = this.watchers.keepCounting('evidence');
      this.failure = undefined;
      return release;
    } catch (error) {
      if (!(error instanceof ConntrackUnavailableError)) throw error;
      this.failure = error.message;
      return undefined;
    }
  }

  private counted(): Counted | undefined {
    return this.watchers.counted();
  }

  /** Whether an endpoint may turn out to be unresponsive by connections that were there at that time. */
  private hasUndecided(read: number): boolean {
    for (const { endpoints } of this.counted()?.ports.values() ?? [])
      for (const { waitingSince = Infinity } of endpoints.values()) if (waitingSince <= read) return true;
    return false;
  }
}

function unansweredOf({ totals, overdue }: EndpointTraffic, { facts }: Counted): number {
  return totals.failed + overdue * facts.samplingRate;
}

function isUdp(port: FamilyPortKey): boolean {
  return servicePortName(port.slice(port.indexOf(' ') + 1) as ServicePortKey).protocol === 'UDP';
}
