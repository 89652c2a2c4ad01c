import type {
  Conntrack,
  FindResult,
  FoundConnection,
  PollResult,
  SweepResult,
  WatchedProtocol,
} from '../../application/ports/node/conntrack.js';
import type { FlowPlace } from '../../domain/conntrack/frontend-map.js';
import type { ConnectionActivity, ClientFlow, Flow } from '../../domain/conntrack/flow.js';
import { hostPort } from '../../domain/net/address.js';
import type { FlowQuery } from '../../domain/conntrack/desired-flows.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** A flow of the table in memory. */
export interface MemoryFlow extends ClientFlow {
  readonly protocol: Protocol;
  readonly replied: boolean;
  /** The results of the next polls. Without it, nothing happens. */
  look?: ConnectionActivity;
}

const NOTHING: ConnectionActivity = { sent: false, answered: false, unacknowledged: false };

/** A table of flows in memory, with optional failures and delays. */
export class MemoryConntrack implements Conntrack {
  readonly flows: Record<IpFamily, Set<MemoryFlow>> = { IPv4: new Set(), IPv6: new Set() };
  /** Every sweep that was requested. */
  readonly sweeps: { readonly family: IpFamily; readonly query: FlowQuery }[] = [];
  /** Every search for connections to endpoints, and every poll of some of them. */
  readonly searches: { readonly family: IpFamily; readonly endpoints: readonly FlowPlace[] }[] = [];
  readonly looks: (readonly FoundConnection[])[] = [];
  /** How the next calls fail, in order: thrown before anything is done, or as a problem in the result. */
  readonly faults: ({ readonly thrown: Error } | { readonly problem: Error })[] = [];
  /** Calls wait for this before they examine anything. */
  gate: Promise<void> = Promise.resolve();
  closed = false;
  /** `countPackets` was called. */
  countsPackets = false;

  countPackets(): void {
    this.countsPackets = true;
  }

  /** @param more by default UDP, with a reply */
  track(
    family: IpFamily,
    destination: string,
    destinationPort: number,
    replySource: string,
    more: Partial<MemoryFlow> = {},
  ): MemoryFlow {
    const flow: MemoryFlow = {
      ...{ destination, destinationPort, replySource, protocol: 'UDP', replied: true },
      ...{ source: '192.0.2.77', isMasqueraded: false },
      ...more,
    };
    this.flows[family].add(flow);
    return flow;
  }

  async sweep(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: ClientFlow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult> {
    this.sweeps.push({ family, query });
    const fault = await this.begin(signal);
    const shown = [...this.flows[family]].filter((flow) => matches(flow, query));
    const stale = shown.filter(isStale);
    for (const flow of stale) this.flows[family].delete(flow);
    return { examined: shown.length, deleted: stale.length, ...fault };
  }

  async find(
    family: IpFamily,
    wanted: WatchedProtocol,
    endpoints: readonly FlowPlace[],
    isWanted: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<FindResult> {
    this.searches.push({ family, endpoints });
    const fault = await this.begin(signal);
    const shown = [...this.flows[family]].filter(
      ({ protocol, replied, replySource }) =>
        protocol === wanted && replied && endpoints.some((place) => isAt(replySource, place)),
    );
    return { found: shown.filter(isWanted), examined: shown.length, ...fault };
  }

  async poll(
    family: IpFamily,
    connections: Iterable<FoundConnection>,
    isDead: (connection: FoundConnection, look: ConnectionActivity | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<PollResult> {
    const asked = [...connections];
    this.looks.push(asked);
    const fault = await this.begin(signal);
    const flows = this.flows[family];
    let deleted = 0;
    for (const connection of asked) {
      const flow = connection as MemoryFlow;
      const isThere = flows.has(flow);
      const { look = NOTHING } = flow;
      if (isDead(connection, isThere ? look : undefined) && flows.delete(flow)) deleted++;
    }
    return { deleted, ...fault };
  }

  private async begin(signal: AbortSignal): Promise<{ readonly problem: Error } | undefined> {
    await this.gate;
    signal.throwIfAborted();
    const fault = this.faults.shift();
    if (fault && 'thrown' in fault) throw fault.thrown;
    return fault;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

function matches(flow: MemoryFlow, { protocol, unreplied, address, port }: FlowQuery): boolean {
  return (
    protocol === flow.protocol &&
    !(unreplied && flow.replied) &&
    (address === undefined || address === flow.destination) &&
    (port === undefined || port === flow.destinationPort)
  );
}

function isAt(endpoint: string, { address, port }: FlowPlace): boolean {
  if (port === undefined) return true;
  return address === undefined ? endpoint.endsWith(`:${port}`) : endpoint === hostPort(address, port);
}
