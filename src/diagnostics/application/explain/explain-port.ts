import {
  requestedFrontends,
  type ForwardingEntry,
  type Frontend,
  frontendName,
} from '../../../domain/forwarding/forwarding-entry.js';
import { weighed } from '../../../domain/forwarding/forward-service.js';
import { endpointPlace, type Endpoint } from '../../../domain/model/endpoint.js';
import { cidrText } from '../../../domain/net/cidr.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import { ejectedOf } from '../../../domain/select-endpoints.js';
import { serviceKey } from '../../../domain/model/service-port-name.js';
import { familyPortKey } from '../../../domain/traffic/service-frontends.js';
import type { ForwardingObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { ConflictingFrontend } from '../../../application/status/port-status.js';
import type { EjectionLookup } from '../../../application/status/port-status.js';
import type { LocalhostLookup } from '../../../application/status/port-status.js';
import {
  ejectionText,
  ownerText,
  ownerOutcomeText,
  compactTexts,
  counted,
} from '../../../application/words.js';
import type { ListedLoop } from '../status/list-services.js';
import { holdsNothing, type ServiceStatuses } from '../../../application/status/service-statuses.js';
import type { EndpointExplanation, PortExplanation, FrontendExplanation } from './explanation.js';
import { ejectedFinding, findingsOf, forwardingFinding, LACKS, type Finding } from './findings.js';
import { isHashed, weightOf, type BalancingMethod } from '../../../domain/balancing/balancing.js';
import { slotShares, type SlotShare } from '../../../domain/balancing/slots.js';
/** Why no endpoint of a service port is used. */
const NOT_REACHED = 'all its frontends belong to other Services';

/** Use case ExplainPort: what becomes of one service port, from the objects of the cluster and the statuses. */
export class ExplainPort {
  constructor(
    private readonly state: ClusterState,
    private readonly statuses: Pick<ServiceStatuses, 'get'>,
    private readonly loops: readonly Pick<ListedLoop, 'family' | 'table'>[],
    private readonly asideTimes: EjectionLookup = () => undefined,
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
    const ejected = this.ejected(entry);
    const findings = [
      ...obstacles.map(forwardingFinding),
      ...findingsOf(state, entry, endpoints, status),
      ...Array.from(ejected, ([place, words]) => ejectedFinding(place, words)),
    ];
    const isReached = !holdsNothing(entry, status);
    const held = status?.state === 'degraded' ? (status.conflicts ?? []) : [];
    const heldAt = ({ address, port }: Frontend): ConflictingFrontend | undefined =>
      held.find(({ frontend }) => frontend === frontendName(address, port, name.protocol));
    const reachable = new Set(entry.endpoints.reachable.map(endpointPlace));
    return {
      portName: name.port,
      protocol: name.protocol,
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
          ejected.get(endpointPlace(endpoint)) ?? unusedReason(endpoint, entry);
        const reason = used ? undefined : isReached ? unused() : NOT_REACHED;
        const share = used ? choice?.shares.get(endpointPlace(endpoint)) : undefined;
        const { isLocal: local, ...conditions } = endpoint;
        return {
          ...conditions,
          local,
          used,
          ...(share && { share }),
          ...(reason !== undefined && { reason }),
        };
      }),
      findings,
      affinitySeconds,
      ...(choice && { balancing: choice.text }),
      sourceRanges: sourceRanges.map(cidrText),
    };
  }

  private holderOf(
    { family, name }: ForwardingEntry,
    { owner, portName = '' }: ConflictingFrontend,
  ): ForwardingEntry | undefined {
    const table = this.loops.find((loop) => loop.family === family)?.table;
    return table
      ?.entriesOf(owner)
      .find((entry) => entry.name.port === portName && entry.name.protocol === name.protocol);
  }

  /** Why endpoints are ejected, by `ip:port`. */
  private ejected(entry: ForwardingEntry): ReadonlyMap<string, string> {
    const places = ejectedOf(entry.endpoints).map(endpointPlace);
    return new Map(
      places.map((place) => {
        const times = this.asideTimes(familyPortKey(entry), place);
        // It has just returned, and the entry is about to follow.
        return [place, times ? ejectionText(times) : 'about to be tried again'];
      }),
    );
  }
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
  maglev: "by a hash of the client's address and port (maglev)",
  'maglev-source': "by a hash of the client's address (maglev-source)",
};

/**
 * Undefined where the Service asks for nothing else.
 * @param mode other modes than nftables choose in their own ways, so only the weights can be told
 */
export function choiceOf({ balancing, endpoints }: ForwardingEntry, mode: string): Choice | undefined {
  if (!balancing) return undefined;
  const list = endpoints.cluster ?? endpoints.local ?? [];
  const shares = mode === 'nftables' ? slotShares(list, balancing) : weightShares(list);
  const places = new Map(list.map((endpoint, place) => [endpointPlace(endpoint), shares[place]!]));
  const method = isHashed(balancing.method) && mode === 'iptables' ? 'random' : balancing.method;
  const by = `new connections are shared out ${METHODS[method]}${balancing.isWeighted ? ', by weight' : ''}`;
  return { text: mode === 'nftables' ? `${by}${exactness(list, shares)}` : by, shares: places };
}

function weightShares(list: readonly Endpoint[]): readonly SlotShare[] {
  const totalSlots = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  return list.map((endpoint) => ({ slots: weightOf(endpoint), totalSlots }));
}

/** How many slots there are, and how far a share is from what weights ask for, at most. */
function exactness(list: readonly Endpoint[], shares: readonly SlotShare[]): string {
  const [first] = shares;
  if (!first || list.length < 2) return '';
  const total = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  const deviations = list.map((endpoint, place) => {
    const wanted = weightOf(endpoint) / total;
    return Math.abs(shares[place]!.slots / first.totalSlots - wanted) / wanted;
  });
  const most = Math.max(...deviations);
  return `: ${first.totalSlots} slots, each share ${most < 1e-9 ? 'exact' : `within ${(most * 100).toFixed(2)} % of what it should be`}`;
}

/**
 * What clients outside this node get from a frontend, and why.
 * @param held the service port that it belongs to instead
 * @param localhost where the proxy itself listens for the node port
 * @param holderOf the entry of the service port that holds a frontend; undefined if it is gone by now
 */
function explainedFrontend(
  entry: ForwardingEntry,
  frontend: Frontend,
  held: ConflictingFrontend | undefined,
  findings: readonly Finding[],
  localhost: string | undefined,
  holderOf: (held: ConflictingFrontend) => ForwardingEntry | undefined,
): FrontendExplanation {
  const { protocol } = entry.name;
  const name = frontendName(frontend.address, frontend.port, protocol);
  if (held) {
    const holder = holderOf(held);
    const its = holder?.frontends.find((one) => frontendName(one.address, one.port, protocol) === name);
    const fate = holder && its && ownerOutcomeText(holder, its);
    return { ...frontend, outcome: 'held', reason: compactTexts(ownerText(held), fate).join(', ') };
  }
  const also = frontend.kind === 'node-port' && localhost && `the proxy itself listens on ${localhost}`;
  return { ...frontend, reason: compactTexts(frontendReason(entry, frontend, findings), also).join('; ') };
}

/** The frontend, where the kernel forwards nothing that comes from outside to any of its endpoints. */
function stopped(
  frontend: FrontendExplanation,
  { endpoints }: ForwardingEntry,
  obstacles: readonly ForwardingObstacle[],
): FrontendExplanation {
  const obstacle = obstacles.find(({ kind }) => kind === 'not-forwarded');
  const used = (frontend.policy === 'Local' ? endpoints.local : endpoints.cluster) ?? [];
  return frontend.outcome === 'forward' && obstacle && used.every((one) => obstacle.affects(one))
    ? { ...frontend, outcome: 'drop', reason: obstacle.text }
    : frontend;
}

/** Why clients outside this node get what the service port itself offers there. */
function frontendReason(
  { endpoints }: ForwardingEntry,
  { policy, outcome }: Frontend,
  findings: readonly Finding[],
): string {
  const isLack = ({ kind }: Finding): boolean => LACKS.some((lack) => lack === kind);
  const { text } = findings.find(isLack) ?? { text: 'no endpoint is usable' };
  switch (outcome) {
    case 'reject':
      return text;
    case 'drop':
      return 'the policy is Local, and no endpoint on this node is usable';
    case 'forward':
      return policy === 'Local'
        ? `to ${counted(endpoints.local!.length, 'endpoint')} on this node`
        : `to ${counted(endpoints.cluster!.length, 'endpoint')}`;
  }
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
