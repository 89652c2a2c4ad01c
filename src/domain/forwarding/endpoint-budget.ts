import type { ForwardingEntry } from './forwarding-entry.js';
import type { ServiceKey } from '../model/service-port-name.js';
import { byAge } from '../model/service.js';

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

/** The endpoints of a Service, those of each frontend. */
export interface EndpointDemand {
  readonly endpoints: number;
  /** The least that the Service gets. */
  readonly least: number;
  /** When the Service was created, in seconds since the epoch; missing: after all that are known. */
  readonly createdAt?: number | undefined;
}

/**
 * Limits the endpoints of Services that have very many, so that no objects that an API server accepts exhaust the memory. Older Services
 * come first, then by name. Each gets all that it may have while three quarters of the node's are enough. Of the last
 * quarter each gets a part of what is left, the first ones `small`. So the decision depends on the present Services, not on the order of
 * events, and for a Service never on a younger one.
 */
export class EndpointBudget {
  private readonly large = new Map<ServiceKey, EndpointDemand>();
  /** Of the Services that the node's limit concerns. */
  private decided: ReadonlyMap<ServiceKey, number> = new Map();
  /** The large Services by age; undefined when it is to be sorted again. */
  private order: readonly ServiceKey[] | undefined;
  private demanded = 0;
  private isChanged = false;
  private readonly step: number;

  constructor(private readonly limits = ENDPOINT_LIMITS) {
    this.step = limits.small / 4;
  }

  /** Replaces what a Service has. `decide` follows. */
  request(service: ServiceKey, demand: EndpointDemand): void {
    const former = this.large.get(service);
    const isLarge = demand.endpoints > this.limits.small;
    const [before, after] = [former ? this.shareOf(former) : 0, isLarge ? this.shareOf(demand) : 0];
    this.demanded += after - before;
    if (isLarge) this.large.set(service, demand);
    else this.large.delete(service);
    const isMoved = Boolean(former) !== isLarge || (isLarge && former!.createdAt !== demand.createdAt);
    if (isMoved) this.order = undefined;
    if (isMoved || before !== after || former?.least !== demand.least) this.isChanged = true;
  }

  /**
   * Returns the Services that may have more or fewer endpoints than before. Costs a walk through the large Services where the node's limit
   * matters and one of them has changed by more than a little, else nothing.
   */
  decide(): readonly ServiceKey[] {
    if (!this.isChanged) return NONE;
    this.isChanged = false;
    const former = this.decided;
    this.decided = this.demanded > this.free ? this.distributed() : NO_LIMITS;
    const concerned = new Set([...former.keys(), ...this.decided.keys()]);
    return [...concerned].filter((service) => {
      const { endpoints } = this.large.get(service) ?? { endpoints: 0 };
      const { ofService } = this.limits;
      const [before, after] = [former, this.decided].map((limits) => limits.get(service) ?? ofService);
      return before !== after && endpoints > Math.min(before!, after!);
    });
  }

  /** How many endpoints the Service may have; undefined if it has no more than that. */
  limitOf(service: ServiceKey): number | undefined {
    const limit = this.decided.get(service) ?? this.limits.ofService;
    return (this.large.get(service)?.endpoints ?? 0) > limit ? limit : undefined;
  }

  /** The part that older Services may use up. The rest is for those that come later. */
  private get free(): number {
    return (this.limits.ofNode * 3) / 4;
  }

  /** Limits of the Services that get less than they may have. */
  private distributed(): ReadonlyMap<ServiceKey, number> {
    this.order ??= [...this.large.keys()].sort(byAge((service) => this.large.get(service)!.createdAt));
    const { ofNode, small } = this.limits;
    const parts = (ofNode - this.free) / small;
    const decided = new Map<ServiceKey, number>();
    let used = 0;
    for (const service of this.order) {
      const demand = this.large.get(service)!;
      const share = this.shareOf(demand);
      if (used + share <= this.free) used += share;
      else {
        const more = Math.floor((this.free - used) / this.step) * this.step;
        const part = Math.min(small, powerOfTwo((ofNode - used) / parts));
        const limit = Math.max(demand.least, more, part);
        decided.set(service, limit);
        used += Math.min(share, limit);
      }
    }
    return decided;
  }

  /** The part of the node's limit that it uses. In steps, so that the limits of others change seldom. */
  private shareOf({ endpoints, least }: EndpointDemand): number {
    const { ofService } = this.limits;
    return Math.max(least, Math.min(ofService, Math.ceil(endpoints / this.step) * this.step));
  }
}

/** The greatest that is not greater; 0 below 1. */
function powerOfTwo(number: number): number {
  return number < 1 ? 0 : 2 ** Math.floor(Math.log2(number));
}

const NONE: readonly never[] = [];
const NO_LIMITS: ReadonlyMap<ServiceKey, number> = new Map();

/** For people: that not all endpoints of a Service are used; undefined if they are. */
export function endpointsNote({ mostEndpoints }: Pick<ForwardingEntry, 'mostEndpoints'>): string | undefined {
  if (mostEndpoints === undefined) return undefined;
  return `its Service, alone or with older ones, has too many endpoints for its frontends; each port uses at most ${mostEndpoints}`;
}
