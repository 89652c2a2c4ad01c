import type { ForwardingEntry } from './forwarding-entry.js';
import type { ServiceKey } from '../model/service-port-name.js';

/** Numbers of endpoints, those of each frontend: what the rules of Services grow with. */
export interface EndpointLimits {
  readonly ofService: number;
  /** Of all Services with more than `small`. */
  readonly ofNode: number;
  /** A Service with no more is never limited. */
  readonly small: number;
}

/** In one IP family. Ten megabytes of memory for a Service, 150 for all. */
export const ENDPOINT_LIMITS: EndpointLimits = { ofService: 65_536, ofNode: 1_048_576, small: 4_096 };

/**
 * Limits the endpoints of Services that have very many, so that no objects that an API server accepts exhaust the memory. What a
 * Service may have depends on the present Services, not on the order of events, and changes seldom: it is halved until the large Services
 * have what the node may have.
 */
export class EndpointBudget {
  private readonly large = new Map<ServiceKey, number>();
  private limit: number;

  constructor(private readonly limits = ENDPOINT_LIMITS) {
    this.limit = limits.ofService;
  }

  /** Replaces what a Service has. `decide` follows. */
  request(service: ServiceKey, endpoints: number): void {
    if (endpoints > this.limits.small) this.large.set(service, endpoints);
    else this.large.delete(service);
  }

  /** Returns the Services that may have more or fewer endpoints than before. */
  decide(): readonly ServiceKey[] {
    const { ofService, ofNode, small } = this.limits;
    const before = this.limit;
    this.limit = ofService;
    while (this.limit > small && this.large.size * this.limit > ofNode) this.limit /= 2;
    if (this.limit === before) return NONE;
    const least = Math.min(before, this.limit);
    return [...this.large].flatMap(([service, endpoints]) => (endpoints > least ? service : []));
  }

  /** How many endpoints the Service may have; undefined if it has no more than that. */
  limitOf(service: ServiceKey): number | undefined {
    return (this.large.get(service) ?? 0) > this.limit ? this.limit : undefined;
  }
}

const NONE: readonly never[] = [];

/** For people: that not all endpoints of a Service are used; undefined if they are. */
export function endpointsNote({ mostEndpoints }: Pick<ForwardingEntry, 'mostEndpoints'>): string | undefined {
  if (mostEndpoints === undefined) return undefined;
  return `its Service has too many endpoints for its frontends; each port uses at most ${mostEndpoints}`;
}
