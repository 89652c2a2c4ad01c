import type { Protocol } from '../model/service-port-name.js';
import { placesOf, type FlowPlace } from './flow-place.js';
import { FrontendMap, type FrontendAddress } from './frontend-map.js';

/** Which flows to examine: those of a protocol whose clients send to a place. */
export interface FlowQuery extends FlowPlace {
  readonly protocol: Protocol;
  /** Only those for which no packet has come back yet. */
  readonly unreplied: boolean;
}

/**
 * The frontends whose flows may be stale since the last reconciliation, each with the endpoints that no longer serve it.
 */
export class SuspectFlows {
  readonly removed = new FrontendMap<Set<string> | 'all'>();
  /** Those whose external traffic policy is another one now. */
  readonly withNewPolicy = new FrontendMap<true>();
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
    for (const [frontend] of others.withNewPolicy.entries()) this.withNewPolicy.set(frontend, true);
  }

  /** Where all suspect flows go, in as few places as there can be. */
  places(): readonly FlowPlace[] {
    return this.everything ? [{}] : placesOf(this.removed);
  }
}
