import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { asideOf } from '../selection/select-endpoints.js';
import { FlowPolicies } from './flow-policies.js';
import { frontendAddress, type FrontendAddress } from './frontend-map.js';

/** The frontends and endpoints of a service port, for judging flows. */
export interface ServicePortFlows {
  readonly frontends: readonly FrontendAddress[];
  /** `ip:port` of the endpoints that may keep their flows. */
  readonly endpoints: ReadonlySet<string>;
  /** Missing: every client may use every endpoint, by every frontend. */
  readonly policies?: FlowPolicies;
}

export function servicePortFlows(entry: ForwardingEntry): ServicePortFlows {
  return new FlowsOfEntry(
    entry.frontends.map(frontendAddress),
    eligibleEndpoints(entry),
    new FlowPolicies(entry),
  );
}

/** Of TCP and SCTP only connections that are being opened are judged: they leave an endpoint that steps aside, too. */
function eligibleEndpoints({ name, endpoints, flowEligibleEndpoints }: ForwardingEntry): readonly Endpoint[] {
  const aside = asideOf(endpoints);
  if (name.protocol === 'UDP' || aside.length === 0) return flowEligibleEndpoints;
  return flowEligibleEndpoints.filter((one) => !aside.includes(one) || endpoints.reachable.includes(one));
}

/** Most service ports never have a flow that is judged: the texts are made for those that have. */
class FlowsOfEntry implements ServicePortFlows {
  private places: ReadonlySet<string> | undefined;

  constructor(
    readonly frontends: readonly FrontendAddress[],
    private readonly eligible: readonly Endpoint[],
    readonly policies: FlowPolicies,
  ) {}

  get endpoints(): ReadonlySet<string> {
    return (this.places ??= new Set(this.eligible.map(endpointPlace)));
  }
}
