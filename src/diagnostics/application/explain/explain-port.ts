import {
  requestedFrontends,
  type ForwardingEntry,
  type Frontend,
} from '../../../domain/forwarding/forwarding-entry.js';
import { frontendName } from '../../../domain/forwarding/frontend-name.js';
import { weighed } from '../../../domain/forwarding/weighed.js';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import { cidrText } from '../../../domain/net/cidr.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import { asideOf } from '../../../domain/select-endpoints.js';
import { serviceKey } from '../../../domain/model/service-port-name.js';
import { familyPortKey } from '../../../domain/traffic/service-frontends.js';
import type { ForwardingObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { HeldFrontend } from '../../../application/status/port-status.js';
import type { AsideLookup } from '../../../application/failover/aside-lookup.js';
import type { LocalhostLookup } from '../../../application/localhost/localhost-lookup.js';
import { asideWords } from '../../../application/words/aside-words.js';
import type { ListedLoop } from '../status/list-services.js';
import { holdsNothing, type ServiceStatuses } from '../../../application/status/service-statuses.js';
import { choiceOf } from './choice.js';
import type { EndpointExplanation, PortExplanation } from './explanation.js';
import { asideFinding, findingsOf, forwardingFinding } from './findings.js';
import { explainedFrontend, stopped, unusedReason } from './reasons.js';

/** Why no endpoint of a service port is used. */
const NOT_REACHED = 'all its frontends belong to other Services';

/** Use case ExplainPort: what becomes of one service port, from the objects of the cluster and the statuses. */
export class ExplainPort {
  constructor(
    private readonly state: ClusterState,
    private readonly statuses: Pick<ServiceStatuses, 'get'>,
    private readonly loops: readonly Pick<ListedLoop, 'family' | 'table'>[],
    private readonly asideTimes: AsideLookup = () => undefined,
    private readonly localhost: LocalhostLookup = () => undefined,
    /** In force. */
    private readonly mode = 'nftables',
  ) {}

  /** @param obstacles in the settings of the kernel */
  port(entry: ForwardingEntry, obstacles: readonly ForwardingObstacle[] = []): PortExplanation {
    const { state, statuses } = this;
    const { name, family, key, affinitySeconds, sourceRanges } = entry;
    const service = serviceKey(name.namespace, name.name);
    const identity = { port: name.port, protocol: name.protocol };
    const listed = state.endpointsByPort(service, family)(identity);
    const endpoints = weighed(listed, state.service(service));
    const choice = choiceOf(entry, this.mode);
    const status = statuses.get(family, key);
    const asides = this.asides(entry);
    const findings = [
      ...obstacles.map(forwardingFinding),
      ...findingsOf(state, entry, endpoints, status),
      ...Array.from(asides, ([place, words]) => asideFinding(place, words)),
    ];
    const isReached = !holdsNothing(entry, status);
    const held = status?.state === 'degraded' ? (status.held ?? []) : [];
    const heldAt = ({ address, port }: Frontend): HeldFrontend | undefined =>
      held.find(({ frontend }) => frontend === frontendName(address, port, name.protocol));
    const reachable = new Set(entry.endpoints.reachable.map(endpointPlace));
    return {
      ...identity,
      status: status ?? { state: 'pending' },
      frontends: requestedFrontends(entry).map((frontend) =>
        stopped(
          explainedFrontend(entry, frontend, heldAt(frontend), findings, this.localhost(family, key), (one) =>
            this.holderOf(entry, one),
          ),
          entry,
          obstacles,
        ),
      ),
      endpoints: endpoints.map((endpoint): EndpointExplanation => {
        const used = isReached && reachable.has(endpointPlace(endpoint));
        const unused = (): string | undefined =>
          asides.get(endpointPlace(endpoint)) ?? unusedReason(endpoint, entry);
        const reason = used ? undefined : isReached ? unused() : NOT_REACHED;
        const share = used ? choice?.shares.get(endpointPlace(endpoint)) : undefined;
        return {
          ...endpoint,
          used,
          ...(share && { share }),
          ...(reason !== undefined && { reason }),
        };
      }),
      findings,
      affinitySeconds,
      ...(choice && { choice: choice.text }),
      sourceRanges: sourceRanges.map(cidrText),
    };
  }

  private holderOf(
    { family, name }: ForwardingEntry,
    { holder, port = '' }: HeldFrontend,
  ): ForwardingEntry | undefined {
    const table = this.loops.find((loop) => loop.family === family)?.table;
    return table
      ?.entriesOf(holder)
      .find((entry) => entry.name.port === port && entry.name.protocol === name.protocol);
  }

  /** Why endpoints step aside, by `ip:port`. */
  private asides(entry: ForwardingEntry): ReadonlyMap<string, string> {
    const places = asideOf(entry.endpoints).map(endpointPlace);
    return new Map(
      places.map((place) => {
        const times = this.asideTimes(familyPortKey(entry), place);
        // It has just returned, and the entry is about to follow.
        return [place, times ? asideWords(times) : 'about to be tried again'];
      }),
    );
  }
}
