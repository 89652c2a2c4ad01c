import type { Conntrack, SweepResult } from '../../application/ports/node/conntrack.js';
import type { FlowQuery } from '../../domain/conntrack/suspect-flows.js';
import type { Flow } from '../../domain/conntrack/flow.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** A flow of the table in memory. */
export interface MemoryFlow extends Flow {
  readonly protocol: Protocol;
  readonly replied: boolean;
}

/** A table of flows in memory, with optional failures and delays. */
export class MemoryConntrack implements Conntrack {
  readonly flows: Record<IpFamily, Set<MemoryFlow>> = { IPv4: new Set(), IPv6: new Set() };
  /** Every sweep that was requested. */
  readonly sweeps: { readonly family: IpFamily; readonly query: FlowQuery }[] = [];
  /** How the next sweeps fail, in order: thrown before anything is done, or as a problem in the result. */
  readonly faults: ({ readonly thrown: Error } | { readonly problem: Error })[] = [];
  /** Sweeps wait for this before they examine anything. */
  gate: Promise<void> = Promise.resolve();
  closed = false;

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
      ...more,
    };
    this.flows[family].add(flow);
    return flow;
  }

  async sweep(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult> {
    this.sweeps.push({ family, query });
    await this.gate;
    signal.throwIfAborted();
    const fault = this.faults.shift();
    if (fault && 'thrown' in fault) throw fault.thrown;
    const shown = [...this.flows[family]].filter((flow) => matches(flow, query));
    const stale = shown.filter(isStale);
    for (const flow of stale) this.flows[family].delete(flow);
    return { examined: shown.length, deleted: stale.length, ...fault };
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
