/** Endpoints that terminate, and the connections that still lead to endpoints. */

import { isTranslated } from '../../domain/conntrack/flow.js';
import { listedEndpoints, type EndpointSlice } from '../../domain/model/endpoint-slice.js';
import { serviceKey, type Protocol } from '../../domain/model/service-port-name.js';
import { familyOf, type IpFamily } from '../../domain/net/ip-family.js';
import { splitHostPort } from '../../domain/net/listen-address.js';
import { errorMessage } from '../error-message.js';
import type { Clock } from '../ports/clock.js';
import type { FlowEvents } from '../ports/node/flow-events.js';
import { delay } from '../retries.js';

/** The endpoints that terminate, by address, and since when this proxy knows that. */
export class TerminatingEndpoints {
  /** By slice; only slices that have any. */
  private readonly bySlice = new Map<string, ReadonlyMap<string, number>>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** The present version of a slice. Costs what it has. */
  follow({ namespace, name, ports }: Pick<EndpointSlice, 'namespace' | 'name' | 'ports'>): void {
    const id = serviceKey(namespace, name);
    const before = this.bySlice.get(id);
    const present = new Map<string, number>();
    // All ports of a slice have the same endpoints.
    for (const { address, terminating } of ports[0] ? listedEndpoints(ports[0]) : [])
      if (terminating) present.set(address, before?.get(address) ?? this.clock.now());
    if (present.size > 0) this.bySlice.set(id, present);
    else this.bySlice.delete(id);
  }

  /** The slice is gone, or does not count any more. */
  forget(namespace: string, name: string): void {
    this.bySlice.delete(serviceKey(namespace, name));
  }

  /** In milliseconds since the epoch; undefined if no endpoint of this address terminates. */
  since(address: string): number | undefined {
    const times = [...this.bySlice.values()].flatMap((slice) => slice.get(address) ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  addresses(): ReadonlySet<string> {
    return new Set([...this.bySlice.values()].flatMap((slice) => [...slice.keys()]));
  }
}

/** Identifies an endpoint among those of all protocols: its `ip:port`. */
export type ProtocolPlace = `${Protocol} ${string}`;

/** The open connections to each endpoint that has any, or why they cannot be seen, for people. */
export type ConnectionCounts =
  | { readonly counts: ReadonlyMap<ProtocolPlace, number> }
  | { readonly unseenReason: string };

/** After this many connections, reading pauses for `PAUSE` milliseconds, so that other work can be done. */
const READ_AT_ONCE = 2_000;
const PAUSE = 5;

const THROUGH_IPVS = 'connections through IPVS are not tracked: set net.ipv4.vs.conntrack to 1';

/**
 * The connections of clients through this node to endpoints, as far as a translation of addresses led them there. Each call reads the
 * kernel's table of tracked connections as a whole, so that the numbers are exact; nothing is counted in between.
 */
export class OpenConnections {
  /** @param unseenReason why this kernel has none of the proxy's connections in that table; missing: it has */
  constructor(
    private readonly flows: Pick<FlowEvents, 'walk' | 'table'>,
    private readonly clock: Clock,
    private readonly unseenReason?: string,
  ) {}

  /**
   * Counts those to these addresses that are not closed. A connection that was there before the call is counted, unless it ends meanwhile.
   * @throws the signal's reason when aborted
   */
  async to(addresses: ReadonlySet<string>, signal: AbortSignal): Promise<ConnectionCounts> {
    if (this.unseenReason !== undefined) return { unseenReason: this.unseenReason };
    if (!this.flows.table().tracksServices) return { unseenReason: THROUGH_IPVS };
    const counts = new Map<ProtocolPlace, number>();
    if (addresses.size === 0) return { counts };
    // The kernel may list one twice.
    const seen = new Set<number>();
    let sincePause = 0;
    try {
      await this.flows.walk(
        (flow) => {
          const { replySource } = flow;
          if (flow.closed || !addresses.has(hostOf(replySource)) || !isTranslated(flow) || seen.has(flow.id))
            return;
          seen.add(flow.id);
          const place: ProtocolPlace = `${flow.protocol} ${replySource}`;
          counts.set(place, (counts.get(place) ?? 0) + 1);
        },
        async (more) => {
          sincePause += more;
          if (sincePause < READ_AT_ONCE) return;
          sincePause = 0;
          await delay(this.clock, PAUSE, signal);
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) throw error;
      return { unseenReason: `tracked connections cannot be listed: ${errorMessage(error)}` };
    }
    return { counts };
  }

  /** How many lead to these addresses, by family; undefined if they cannot be seen. */
  async byFamily(
    addresses: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Record<IpFamily, number> | undefined> {
    const result = await this.to(addresses, signal);
    if ('unseenReason' in result) return undefined;
    const sums = { IPv4: 0, IPv6: 0 };
    for (const [place, count] of result.counts)
      sums[familyOf(hostOf(place.slice(place.indexOf(' ') + 1)))] += count;
    return sums;
  }
}

function hostOf(place: string): string {
  return splitHostPort(place)!.host;
}
