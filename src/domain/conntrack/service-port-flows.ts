import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace, lackedBy, type Endpoint } from '../model/endpoint.js';
import { asideOf } from '../selection/select-endpoints.js';
import { FlowPolicies } from './flow-policies.js';
import { frontendAddress, type FrontendAddress } from './frontend-map.js';

/** The frontends and endpoints of a service port, for judging flows. */
export interface ServicePortFlows {
  readonly frontends: readonly FrontendAddress[];
  /** `ip:port` of the endpoints that may keep their flows. */
  readonly endpoints: Places;
  /** Missing: every client may use every endpoint, by every frontend. */
  readonly policies?: FlowPolicies;
}

/** Texts, each once. A set is one. */
export type Places = Pick<ReadonlySet<string>, 'size' | 'has' | typeof Symbol.iterator>;

/** The places that were among these and are not among those. */
export function lostPlaces(before: Places, after: Places = new Set()): readonly string[] {
  if (before instanceof EndpointPlaces && after instanceof EndpointPlaces) return before.without(after);
  return [...before].filter((place) => !after.has(place));
}

export function servicePortFlows(entry: ForwardingEntry): ServicePortFlows {
  return {
    frontends: entry.frontends.map(frontendAddress),
    endpoints: new EndpointPlaces(eligibleEndpoints(entry)),
    policies: new FlowPolicies(entry),
  };
}

/** Of TCP and SCTP only connections that are being opened are judged: they leave an endpoint that steps aside, too. */
function eligibleEndpoints({ name, endpoints, flowEligibleEndpoints }: ForwardingEntry): readonly Endpoint[] {
  const aside = asideOf(endpoints);
  if (name.protocol === 'UDP' || aside.length === 0) return flowEligibleEndpoints;
  return flowEligibleEndpoints.filter((one) => !aside.includes(one) || endpoints.reachable.includes(one));
}

/** Those of a sorted list. Most service ports never have a flow that is judged: the texts are made for those that have. */
class EndpointPlaces implements Places {
  private texts: ReadonlySet<string> | undefined;

  constructor(private readonly endpoints: readonly Endpoint[]) {}

  get size(): number {
    return this.endpoints.length;
  }

  has(place: string): boolean {
    this.texts ??= new Set(this);
    return this.texts.has(place);
  }

  [Symbol.iterator](): SetIterator<string> {
    return new Set(this.endpoints.map(endpointPlace)).values();
  }

  without({ endpoints }: EndpointPlaces): readonly string[] {
    return lackedBy(endpoints, this.endpoints).map(endpointPlace);
  }
}
