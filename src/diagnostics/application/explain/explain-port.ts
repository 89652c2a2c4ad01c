import { requestedFrontends, type ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../../../domain/model/endpoint.js';
import { cidrText } from '../../../domain/net/cidr.js';
import { ejectedOf } from '../../../domain/select-endpoints.js';
import { familyPortKey } from '../../../domain/traffic/service-frontends.js';
import { hasNoFrontend, type KernelObstacle } from '../../../domain/verdict/judge-port.js';
import type { EndpointAnswers } from '../../../application/traffic/endpoint-answers.js';
import type { EjectionLookup } from '../../../application/status/port-status.js';
import type { ServiceVerdicts } from '../../../application/status/service-verdicts.js';
import { ejectionText } from '../../../application/words.js';
import type { EndpointExplanation, PortExplanation } from './explanation.js';
import { isHashed, weightOf, type BalancingMethod } from '../../../domain/balancing/balancing.js';
import { slotShares, type SlotShare } from '../../../domain/balancing/slots.js';

/** Why no endpoint of a service port is used. */
const NOT_REACHED = 'all its frontends belong to other Services';

/** Use case ExplainPort: the frontends and endpoints of one service port, and its verdicts. */
export class ExplainPort {
  constructor(
    private readonly verdicts: Pick<ServiceVerdicts, 'port'>,
    private readonly ejectionTimes: EjectionLookup = () => undefined,
    /** In force. */
    private readonly mode = 'nftables',
    /** Missing: connections are not counted. */
    private readonly answers?: Pick<EndpointAnswers, 'unanswered' | 'open'>,
  ) {}

  /** @param obstacles in the settings of the kernel; missing: those that are known */
  port(entry: ForwardingEntry, obstacles?: readonly KernelObstacle[]): PortExplanation {
    const { name, affinitySeconds, sourceRanges } = entry;
    const judged = this.verdicts.port(entry, obstacles);
    const { endpoints, status, verdicts, frontends, unresponsive } = judged;
    const unanswered = this.answers?.unanswered(familyPortKey(entry));
    const open = this.answers?.open(familyPortKey(entry));
    const showsOpen = entry.balancing?.method === 'least-connections';
    const choice = choiceOf(entry, this.mode);
    const ejected = this.ejected(entry);
    const isReached = !hasNoFrontend(entry, status);
    const reachable = new Set(entry.endpoints.reachable.map(endpointPlace));
    return {
      portName: name.port,
      protocol: name.protocol,
      status: status ?? { state: 'pending' },
      frontends: requestedFrontends(entry).map((frontend, index) => ({ ...frontend, ...frontends[index]! })),
      endpoints: unhealthyFirst(
        endpoints.map((endpoint): EndpointExplanation => {
          const place = endpointPlace(endpoint);
          const used = isReached && reachable.has(place);
          const unused = (): string | undefined => ejected.get(place) ?? unusedReason(endpoint, entry);
          const reason = used ? undefined : isReached ? unused() : NOT_REACHED;
          const share = used ? choice?.shares.get(place) : undefined;
          const { isLocal: local, effectiveWeight: _, ...conditions } = endpoint;
          return {
            ...conditions,
            local,
            used,
            ...(open && (showsOpen || endpoint.terminating) && { openConnections: open(place) }),
            ...(unanswered && { unansweredConnections: unanswered.get(place) ?? 0 }),
            unresponsive: endpoint.ready && unresponsive?.has(place) === true,
            ejected: ejected.has(place),
            ...(share && { share }),
            ...(reason !== undefined && { reason }),
          };
        }),
      ),
      verdicts,
      affinitySeconds,
      ...(choice && { balancing: choice.text }),
      sourceRanges: sourceRanges.map(cidrText),
    };
  }

  /** Its ejected endpoints, each in a sentence. */
  ejectedTexts(entry: ForwardingEntry): readonly string[] {
    return Array.from(this.ejected(entry), ([place, reason]) => `endpoint ${place} is ${reason}`);
  }

  /** Why endpoints are ejected, by `ip:port`. */
  private ejected(entry: ForwardingEntry): ReadonlyMap<string, string> {
    const places = ejectedOf(entry.endpoints).map(endpointPlace);
    return new Map(
      places.map((place) => {
        const times = this.ejectionTimes(familyPortKey(entry), place);
        // It has just returned, and the entry is about to follow.
        return [place, times ? ejectionText(times) : 'about to be tried again'];
      }),
    );
  }
}

/** Unhealthy endpoints first, the worst at the top, then all others; equal ones keep their order. */
function unhealthyFirst(endpoints: readonly EndpointExplanation[]): readonly EndpointExplanation[] {
  const rank = ({ unresponsive, ejected, ready, terminating }: EndpointExplanation): number =>
    [unresponsive, ejected, !ready && !terminating, terminating, true].indexOf(true);
  return endpoints.toSorted((one, other) => rank(one) - rank(other));
}

/** How endpoints are chosen where not all have equal chances at random. */
export interface Choice {
  /** For people. */
  readonly text: string;
  /** By `ip:port`: of the policy Cluster, or where no frontend has it, of the policy Local. */
  readonly shares: ReadonlyMap<string, SlotShare>;
}

const METHODS: Readonly<Record<BalancingMethod, string>> = {
  random: 'at random',
  'round-robin': 'one after another',
  'least-connections': 'at random, more to endpoints with fewer open connections from this node',
  maglev: "by a hash of the client's address and port (maglev)",
  'maglev-source': "by a hash of the client's address (maglev-source)",
};

/**
 * Undefined if the Service requests no other method.
 * @param mode other modes than nftables choose in their own ways, so only the weights can be told
 */
export function choiceOf({ balancing, endpoints }: ForwardingEntry, mode: string): Choice | undefined {
  if (!balancing) return undefined;
  const list = endpoints.cluster ?? endpoints.local ?? [];
  const shares = mode === 'nftables' ? slotShares(list, balancing) : weightShares(list);
  const places = new Map(list.map((endpoint, place) => [endpointPlace(endpoint), shares[place]!]));
  const method = isHashed(balancing.method) && mode === 'iptables' ? 'random' : balancing.method;
  const by = `new connections are shared out ${METHODS[method]}${balancing.isWeighted ? ', by weight' : ''}`;
  const [first] = shares;
  if (mode !== 'nftables' || !first || list.length < 2) return { text: by, shares: places };
  const exact = method === 'least-connections' ? '' : exactness(list, shares);
  return { text: `${by}: ${first.totalSlots} slots${exact}`, shares: places };
}

function weightShares(list: readonly Endpoint[]): readonly SlotShare[] {
  const totalSlots = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  return list.map((endpoint) => ({ slots: weightOf(endpoint), totalSlots }));
}

/** The largest deviation of a share from the weights. */
function exactness(list: readonly Endpoint[], shares: readonly SlotShare[]): string {
  const total = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  const deviations = list.map((endpoint, place) => {
    const wanted = weightOf(endpoint) / total;
    return Math.abs(shares[place]!.slots / shares[place]!.totalSlots - wanted) / wanted;
  });
  const most = Math.max(...deviations);
  return `, each share ${most < 1e-9 ? 'exact' : `within ${(most * 100).toFixed(2)} % of what it should be`}`;
}

/** Why an endpoint is not used although it is ready. */
function unusedReason(endpoint: Endpoint, { endpoints }: ForwardingEntry): string | undefined {
  if (!endpoint.ready) return undefined;
  if (endpoint.weight === 0) return 'its weight is 0';
  if (!endpoints.cluster && !endpoint.isLocal) return 'the policy is Local, and it is on another node';
  const { zoneHints, nodeHints } = endpoint;
  if (zoneHints.length + nodeHints.length > 0) return 'hinted for others than this node';
  return undefined;
}
