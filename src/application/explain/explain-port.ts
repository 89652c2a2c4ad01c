import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import { cidrText } from '../../domain/net/cidr.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import { holdsNothing, type ServiceStatuses } from '../status/service-statuses.js';
import type { EndpointExplanation, PortExplanation } from './explanation.js';
import { findingsOf } from './findings.js';
import { explainedFrontend, unusedReason } from './reasons.js';

/** Why no endpoint of a service port is used. */
const NOT_REACHED = 'other Services hold all its frontends';

/** Use case ExplainPort: what becomes of one service port, from the objects of the cluster and the statuses. */
export class ExplainPort {
  constructor(
    private readonly state: ClusterState,
    private readonly statuses: Pick<ServiceStatuses, 'get'>,
  ) {}

  port(entry: ForwardingEntry): PortExplanation {
    const { state, statuses } = this;
    const { name, family, key, frontends, affinitySeconds, sourceRanges } = entry;
    const service = `${name.namespace}/${name.name}`;
    const identity = { port: name.port, protocol: name.protocol };
    const endpoints = state.endpointsByPort(service, family)(identity);
    const status = statuses.get(family, key);
    const findings = findingsOf(state, entry, endpoints, status);
    const isReached = !holdsNothing(entry, status);
    const reachable = new Set(entry.endpoints.reachable.map(endpointPlace));
    return {
      ...identity,
      status: status ?? { state: 'pending' },
      frontends: frontends.map((frontend) => explainedFrontend(entry, frontend, status, findings)),
      endpoints: endpoints.map((endpoint): EndpointExplanation => {
        const used = isReached && reachable.has(endpointPlace(endpoint));
        const reason = used ? undefined : isReached ? unusedReason(endpoint, entry) : NOT_REACHED;
        return { ...endpoint, used, ...(reason !== undefined && { reason }) };
      }),
      findings,
      affinitySeconds,
      sourceRanges: sourceRanges.map(cidrText),
    };
  }
}
