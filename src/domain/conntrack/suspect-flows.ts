import type { Protocol } from '../model/service-port-name.js';
import { FrontendMap, NODE_PORT, type FrontendAddress } from './frontend-map.js';

/** Where flows go, as their clients see it. A missing part matches everything. */
export interface FlowPlace {
  readonly address?: string;
  readonly port?: number;
}

/** Which flows to examine: those of a protocol to a place. */
export interface FlowQuery extends FlowPlace {
  readonly protocol: Protocol;
  /** Only those for which no packet has come back yet. */
  readonly unreplied: boolean;
}

/** For each place the kernel searches its whole table. With more places, one walk over all flows of the protocol is cheaper. */
const MOST_PLACES = 4;

/** The endpoints that no longer serve a frontend: those known by `ip:port`, or all it had. */
export type RemovedBackends = ReadonlySet<string> | 'all';

/**
 * The frontends whose flows may be stale since the last reconciliation, each with the endpoints that no longer serve it.
 */
export class SuspectFlows {
  readonly removed = new FrontendMap<Set<string> | 'all'>();
  private everything = false;

  get empty(): boolean {
    return !this.everything && this.removed.empty;
  }

  /** Suspects every flow. */
  addAll(): void {
    this.everything = true;
  }

  /**
   * Suspects the flows of a frontend.
   * @param endpoints `ip:port` of those that may no longer keep its flows; `all` when they are unknown
   */
  add(frontend: FrontendAddress, endpoints: Iterable<string> | 'all'): void {
    const removed = this.removed.get(frontend.port, frontend.address);
    if (endpoints === 'all') this.removed.set(frontend, 'all');
    else if (!removed) this.removed.set(frontend, new Set(endpoints));
    else if (removed !== 'all') for (const endpoint of endpoints) removed.add(endpoint);
  }

  /** Adds everything that others suspect. */
  merge(others: SuspectFlows): void {
    this.everything ||= others.everything;
    for (const [frontend, endpoints] of others.removed.entries()) this.add(frontend, endpoints);
  }

  /** Where all suspect flows go, in as few places as there can be. */
  places(): readonly FlowPlace[] {
    if (this.everything) return [{}];
    const places = [...this.removed.ports()].map(([port, addresses]): FlowPlace => {
      const [address = NODE_PORT] = addresses.keys();
      return addresses.size > 1 || address === NODE_PORT ? { port } : { port, address };
    });
    return places.length > MOST_PLACES ? [{}] : places;
  }
}
