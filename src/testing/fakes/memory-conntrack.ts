import type { Conntrack, SweepResult } from '../../application/ports/node/conntrack.js';
import type { FlowQuery } from '../../domain/conntrack/suspect-flows.js';
import type { Flow } from '../../domain/conntrack/flow.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** A table of UDP flows in memory, with optional failures and delays. */
export class MemoryConntrack implements Conntrack {
  readonly flows: Record<IpFamily, Set<Flow>> = { IPv4: new Set(), IPv6: new Set() };
  /** Every sweep that was requested. */
  readonly sweeps: { readonly family: IpFamily; readonly query: FlowQuery }[] = [];
  /** How the next sweeps fail, in order: thrown before anything is done, or as a problem in the result. */
  readonly faults: ({ readonly thrown: Error } | { readonly problem: Error })[] = [];
  /** Sweeps wait for this before they examine anything. */
  gate: Promise<void> = Promise.resolve();
  closed = false;

  track(family: IpFamily, destination: string, destinationPort: number, replySource: string): Flow {
    const flow = { destination, destinationPort, replySource };
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

function matches(flow: Flow, { address, port }: FlowQuery): boolean {
  return (
    (address === undefined || address === flow.destination) &&
    (port === undefined || port === flow.destinationPort)
  );
}
