import type { OwnAttempts } from '../../domain/failover/port-failover.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../../domain/model/endpoint.js';
import { getOrMake } from '../../domain/model/maps.js';
import { serviceOf, type ServiceKey } from '../../domain/model/service-port-name.js';
import { familyPortKey, type FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { Clock } from '../ports/clock.js';
import type { EndpointConnector } from '../ports/node/endpoint-connections.js';

/** The time that a connection of a client may wait, in milliseconds. */
const ANSWER_TIME = 1_000;
/** Attempts at the same time, for all Services. */
const MOST_CONCURRENT = 16;

/** The endpoints of a service port that wait for an attempt. The next one comes first. */
type Waiting = Map<FamilyPortKey, Endpoint[]>;

/**
 * This node's own attempts to connect to endpoints that may be unresponsive. Connections of clients may be forged, or dropped by a policy
 * for that client; these are neither. Services take turns, and so do the ports of each, so that one with many such endpoints does
 * not delay others.
 */
export class OwnConnects {
  private readonly byPort = new Map<FamilyPortKey, Map<string, OwnAttempts>>();
  /** The Service whose turn it is comes first. */
  private readonly waiting = new Map<ServiceKey, Waiting>();
  private readonly running = new Set<string>();
  private readonly stopping = new AbortController();

  /** @param ended called after each attempt, with the service port that it was for */
  constructor(
    private readonly connector: EndpointConnector,
    private readonly clock: Clock,
    private readonly ended: (port: FamilyPortKey) => void,
  ) {}

  of(port: FamilyPortKey, place: string): OwnAttempts | undefined {
    return this.byPort.get(port)?.get(place);
  }

  forget(entry: Pick<ForwardingEntry, 'family' | 'key'>): void {
    this.byPort.delete(familyPortKey(entry));
    this.enqueue(entry, []);
  }

  /** Replaces the endpoints of a service port that are to be tried. `start` follows. */
  request(entry: ForwardingEntry, places: readonly string[]): void {
    const port = familyPortKey(entry);
    if (entry.name.protocol !== 'TCP') {
      // Node.js cannot connect by SCTP.
      for (const place of places) record(this.placesOf(port), place, { impossible: this.clock.steady() });
      return;
    }
    const wanted = new Set(places);
    const endpoints = entry.endpoints.reachable.filter((endpoint) => {
      const place = endpointPlace(endpoint);
      return wanted.has(place) && !this.running.has(idOf(port, place));
    });
    const triedAt = (endpoint: Endpoint): number =>
      Math.max(0, ...Object.values(this.of(port, endpointPlace(endpoint)) ?? {}));
    this.enqueue(
      entry,
      endpoints.sort((a, b) => triedAt(a) - triedAt(b)),
    );
  }

  /** Tries as many endpoints as may be tried at the same time. */
  start(): void {
    while (this.running.size < MOST_CONCURRENT && !this.stopping.signal.aborted) {
      const next = this.next();
      if (!next) return;
      void this.attempt(...next);
    }
  }

  /** Ends all attempts, for good. */
  stop(): void {
    this.stopping.abort();
    this.waiting.clear();
  }

  private enqueue(entry: Pick<ForwardingEntry, 'family' | 'key'>, endpoints: Endpoint[]): void {
    const service = serviceOf(entry.key);
    const ports = this.waiting.get(service) ?? (new Map() as Waiting);
    if (endpoints.length > 0) ports.set(familyPortKey(entry), endpoints);
    else ports.delete(familyPortKey(entry));
    if (ports.size > 0) this.waiting.set(service, ports);
    else this.waiting.delete(service);
  }

  /** The next turn is that of another Service, and the Service's next one that of another port. */
  private next(): [FamilyPortKey, Endpoint] | undefined {
    const [service, ports] = takeFirst(this.waiting) ?? [];
    if (service === undefined || !ports) return undefined;
    const [port, endpoints] = takeFirst(ports)!;
    const endpoint = endpoints.shift()!;
    if (endpoints.length > 0) ports.set(port, endpoints);
    if (ports.size > 0) this.waiting.set(service, ports);
    return [port, endpoint];
  }

  private async attempt(port: FamilyPortKey, endpoint: Endpoint): Promise<void> {
    const place = endpointPlace(endpoint);
    const id = idOf(port, place);
    this.running.add(id);
    const [places, begun] = [this.placesOf(port), this.clock.steady()];
    const outcome = await this.connector.attempt(endpoint, ANSWER_TIME, this.stopping.signal);
    this.running.delete(id);
    record(places, place, { [outcome]: begun });
    this.ended(port);
  }

  private placesOf(port: FamilyPortKey): Map<string, OwnAttempts> {
    return getOrMake(this.byPort, port, () => new Map<string, OwnAttempts>());
  }
}

function record(places: Map<string, OwnAttempts>, place: string, attempt: OwnAttempts): void {
  places.set(place, { ...places.get(place), ...attempt });
}

function idOf(port: FamilyPortKey, place: string): string {
  return `${port} ${place}`;
}

function takeFirst<K, V>(map: Map<K, V>): [K, V] | undefined {
  const [first] = map;
  if (first) map.delete(first[0]);
  return first;
}
