import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { EndpointTraffic, GrowingTotals, type CountedFlow } from './endpoint-traffic.js';
import { inSample } from './sample.js';
import type { SeenFlow } from '../conntrack/flow.js';
import { familyPortKey, type FamilyPortKey } from './service-frontends.js';
import { getOrMake } from '../model/maps.js';

/** The connections of one service port. */
export class PortTraffic {
  readonly totals = new GrowingTotals();
  /** By `ip:port`. */
  readonly endpoints = new Map<string, EndpointTraffic>();

  endpoint(text: string): EndpointTraffic {
    return getOrMake(this.endpoints, text, () => new EndpointTraffic(this.totals));
  }
}

/**
 * Counts connections by service port and endpoint: folds the kernel's events, and walks through its table, into numbers.
 *
 * Events alone are not enough: they begin late, some get lost, and kernels since 5.19 report none for connections that are
 * older than the first listener. A walk alone shows a past state. Together they are exact: a walk finds what events did not
 * tell, and connections missing in a complete listing have ended, unless events reported them meanwhile; those ended by events during the listing
 * stays ended, though the walk may still show it. Events are to be folded in their order.
 */
export class TrafficTable {
  private readonly flows = new Map<number, CountedFlow>();
  private readonly byPort = new Map<FamilyPortKey, PortTraffic>();
  /** Ended during the walk that is under way. */
  private ended: Set<number> | undefined;
  private walk = 0;
  private currentShift = 0;

  /** @param ownerOf undefined for connections that are not to be counted */
  constructor(private readonly ownerOf: (flow: SeenFlow) => ForwardingEntry | undefined) {}

  /** One in 2^shift connections is counted, and stands for the others. */
  get shift(): number {
    return this.currentShift;
  }

  /** How many connections are known. */
  get size(): number {
    return this.flows.size;
  }

  ports(): ReadonlyMap<FamilyPortKey, PortTraffic> {
    return this.byPort;
  }

  /** An event: the connection began. */
  began(flow: SeenFlow, now: number): void {
    this.ended?.delete(flow.id);
    const counted = this.flows.get(flow.id) ?? this.add(flow, now, true);
    if (!counted) return;
    counted.endpoint.began(counted, now);
    counted.endpoint.totals.add('connections', this.weight);
  }

  /** An event: the connection is different now. */
  changed(flow: SeenFlow, now: number): void {
    const counted = this.flows.get(flow.id);
    if (counted) this.advance(counted, flow, now);
    else this.add(flow, now, false);
  }

  /** An event: the kernel no longer tracks the connection. */
  ceased(flow: SeenFlow, now: number): void {
    this.ended?.add(flow.id);
    const counted = this.flows.get(flow.id);
    if (!counted) return;
    this.advance(counted, flow, now);
    this.flows.delete(flow.id);
    counted.endpoint.ended(counted, this.weight);
  }

  /** A walk through the kernel's whole table begins. One at a time; one that failed is over when the next begins. */
  walkBegins(): void {
    this.walk++;
    this.ended = new Set();
  }

  /** The walk met a connection. What it shows may be older than the last event. */
  found(flow: SeenFlow, now: number): void {
    if (!this.ended?.has(flow.id)) this.changed(flow, now);
  }

  /** The walk was complete: connections that it did not meet are gone. Fold all events before. */
  walkEnds(): void {
    this.ended = undefined;
    for (const [id, counted] of this.flows) {
      if (counted.walk === this.walk) continue;
      this.flows.delete(id);
      counted.endpoint.ended(counted, this.weight);
    }
  }

  /** From now on one in 2^shift connections is counted. If that is more than before, only a walk finds the others. */
  sample(shift: number): void {
    this.currentShift = shift;
    for (const [id, counted] of this.flows) {
      if (inSample(counted.hash, shift)) continue;
      this.flows.delete(id);
      counted.endpoint.forget(counted);
    }
  }

  /**
   * Finds what has waited for too long by now, and forgets service ports and endpoints that are gone.
   * @param endpointsOf `ip:port` of all that a service port may use; undefined if it no longer exists
   */
  tidy(
    now: number,
    endpointsOf: (port: FamilyPortKey) => Pick<ReadonlySet<string>, 'has'> | undefined,
  ): void {
    for (const [key, port] of this.byPort) {
      const idle: string[] = [];
      for (const [text, endpoint] of port.endpoints) {
        endpoint.watchTheTime(now);
        if (endpoint.known === 0) idle.push(text);
      }
      if (idle.length === 0 && port.endpoints.size > 0) continue;
      const present = endpointsOf(key);
      for (const text of idle) if (!present?.has(text)) port.endpoints.delete(text);
      if (port.endpoints.size === 0 && !present) this.byPort.delete(key);
    }
  }

  private get weight(): number {
    return 2 ** this.currentShift;
  }

  private add(flow: SeenFlow, now: number, begun: boolean): CountedFlow | undefined {
    const owner = this.ownerOf(flow);
    if (!owner) return undefined;
    const port = getOrMake(this.byPort, familyPortKey(owner), () => new PortTraffic());
    const counted: CountedFlow = {
      endpoint: port.endpoint(flow.replySource),
      hash: flow.hash,
      client: flow.client,
      since: now,
      stage: flow.closed ? 'closed' : flow.replied ? 'answered' : 'waiting',
      begun,
      overdue: false,
      bytes: begun ? 0 : flow.bytes,
      walk: this.walk,
    };
    this.flows.set(flow.id, counted);
    counted.endpoint.enter(counted);
    return counted;
  }

  private advance(counted: CountedFlow, flow: SeenFlow, now: number): void {
    const { endpoint } = counted;
    counted.walk = this.walk;
    if (flow.replied) endpoint.answered(counted, now);
    if (flow.closed) endpoint.closed(counted, this.weight, now);
    if (flow.bytes === undefined) return;
    const more = flow.bytes - (counted.bytes ?? flow.bytes);
    if (more < 0) return;
    endpoint.totals.add('bytes', more * this.weight);
    counted.bytes = flow.bytes;
  }
}
