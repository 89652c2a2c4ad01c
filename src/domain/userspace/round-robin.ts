import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { NamedError } from '../model/named-error.js';

/** Where a connection is made to. */
export type EndpointAddress = Pick<Endpoint, 'address' | 'port'>;

/** A number from 0 up to, but without, 1. */
export type Random = () => number;

/** There is no endpoint to connect to, and trying again will not help. */
export class NoEndpointError extends NamedError {
  constructor() {
    super('the service port has no endpoints');
  }
}

/**
 * Chooses the endpoints of one service port in turn, and for a client with affinity the one that it had
 * (docs/internals/spec/userspace.md §2). Times in milliseconds.
 */
export class RoundRobin {
  private endpoints: readonly EndpointAddress[] = [];
  private byPlace: ReadonlyMap<string, EndpointAddress> = new Map();
  private kept: ReadonlySet<string> = new Set();
  private position = 0;
  private affinitySeconds = 0;
  private readonly affinity = new ClientAffinity();

  constructor(private readonly random: Random) {}

  /** How many clients are held to an endpoint. */
  get heldClients(): number {
    return this.affinity.size;
  }

  /** @param seconds how long a client stays after its last connection; 0 for no affinity */
  stickFor(seconds: number): void {
    this.affinitySeconds = seconds;
    if (seconds === 0) this.affinity.clear();
  }

  /**
   * Other endpoints start in a new random order, and clients of removed ones are forgotten. The same endpoints change nothing.
   * @param kept endpoints that get no new connections and keep those that they have
   */
  use(endpoints: readonly EndpointAddress[], kept: readonly EndpointAddress[] = []): void {
    this.kept = new Set(kept.map(endpointPlace));
    const byPlace = new Map(endpoints.map((endpoint) => [endpointPlace(endpoint), endpoint]));
    if (byPlace.size === this.byPlace.size && [...byPlace.keys()].every((place) => this.byPlace.has(place)))
      return;
    this.byPlace = byPlace;
    this.affinity.retain(new Set(byPlace.keys()));
    this.endpoints = shuffled([...byPlace.values()], this.random);
    this.position = 0;
  }

  /** Whether `ip:port` is one of the endpoints, or keeps its connections. */
  has(place: string): boolean {
    return this.byPlace.has(place) || this.kept.has(place);
  }

  /**
   * The endpoint for a client's next connection.
   * @param client its address
   * @param afresh the one that it has, if any, did not answer: continue with the next
   * @throws NoEndpointError
   */
  next(client: string, now: number, afresh = false): EndpointAddress {
    const sticky = this.affinitySeconds > 0;
    if (sticky && !afresh) {
      const held = this.byPlace.get(this.affinity.use(client, now, this.affinitySeconds) ?? '');
      if (held) return held;
    }
    const endpoint = this.endpoints[this.position];
    if (!endpoint) throw new NoEndpointError();
    this.position = (this.position + 1) % this.endpoints.length;
    if (sticky) this.affinity.hold(client, endpointPlace(endpoint), now);
    return endpoint;
  }

  /** The endpoint that the client has turned it away: its next connection goes to another. */
  letGo(client: string): void {
    this.affinity.letGo(client);
  }

  /** Forgets clients whose time is over. */
  purge(now: number): void {
    this.affinity.purge(now, this.affinitySeconds);
  }
}

/** In place: each order is as likely as any other (Fisher and Yates). */
function shuffled<Value>(list: Value[], random: Random): readonly Value[] {
  for (let last = list.length - 1; last > 0; last--) {
    const chosen = Math.floor(random() * (last + 1));
    [list[last], list[chosen]] = [list[chosen]!, list[last]!];
  }
  return list;
}

interface Hold {
  readonly endpoint: string;
  usedAt: number;
}

/** Which endpoint (`ip:port`) each client (address) keeps. A hold ends when it was not used for a while. */
class ClientAffinity {
  private readonly holds = new Map<string, Hold>();

  get size(): number {
    return this.holds.size;
  }

  /** The client's endpoint, whose timeout starts again; undefined when it has none. Times in milliseconds. */
  use(client: string, now: number, seconds: number): string | undefined {
    const hold = this.holds.get(client);
    if (!hold || isOver(hold, now, seconds)) return undefined;
    hold.usedAt = now;
    return hold.endpoint;
  }

  hold(client: string, endpoint: string, now: number): void {
    this.holds.set(client, { endpoint, usedAt: now });
  }

  letGo(client: string): void {
    this.holds.delete(client);
  }

  /** Lets go of every endpoint that is not among these. */
  retain(endpoints: ReadonlySet<string>): void {
    for (const [client, { endpoint }] of this.holds) if (!endpoints.has(endpoint)) this.holds.delete(client);
  }

  /** Forgets the holds that are over. Costs what is held. */
  purge(now: number, seconds: number): void {
    for (const [client, hold] of this.holds) if (isOver(hold, now, seconds)) this.holds.delete(client);
  }

  clear(): void {
    this.holds.clear();
  }
}

/** Whole seconds count (docs/internals/spec/userspace.md §2.3). */
function isOver({ usedAt }: Hold, now: number, seconds: number): boolean {
  return Math.floor((now - usedAt) / 1000) >= seconds;
}
