import type { ForwardingEntry, Frontend } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint, type PortIdentity } from '../../domain/model/endpoint.js';
import type { Node } from '../../domain/model/node.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ServiceStatus } from '../status/service-statuses.js';

/** Something that stops or limits the traffic of a service port. */
export interface Finding {
  readonly kind: FindingKind;
  /** Clients are refused, or do not get what the Service asks for. Otherwise it is a matter of policy, or passes. */
  readonly isFault: boolean;
  /** For people. */
  readonly text: string;
}

export type FindingKind =
  | 'failed'
  | 'deviation'
  | 'no-slices'
  | 'other-family'
  | 'no-such-port'
  | 'other-protocol'
  | 'no-endpoints'
  | 'all-terminating'
  | 'none-ready'
  | 'draining'
  | 'none-local'
  | 'other-zones';

/** What is known of one service port besides its entry. */
export interface PortFacts {
  readonly entry: ForwardingEntry;
  /** Undefined if it was never attempted. */
  readonly status: ServiceStatus | undefined;
  /** All endpoints of the service port, whatever their state. */
  readonly endpoints: readonly Endpoint[];
  /** The families of the Service's slices; empty without slices. */
  readonly sliceFamilies: readonly IpFamily[];
  /** The ports of its slices of the entry's family. */
  readonly slicePorts: readonly PortIdentity[];
  /** Slices that look as if they were meant for the Service, for people. */
  readonly misplacedSlices: () => readonly string[];
  readonly node: Node | undefined;
}

/** Everything that stops or limits the traffic of a service port, the most important first. */
export function findingsOf(facts: PortFacts): readonly Finding[] {
  const { entry, status, endpoints, node } = facts;
  const found: (Finding | undefined)[] = [
    status?.state === 'failed' ? fault('failed', status.reason) : undefined,
    status?.state === 'programmed' && status.note !== undefined ? fault('deviation', status.note) : undefined,
    lackOfEndpoints(facts),
    draining(entry),
    noneLocal(entry),
    otherZones(entry, endpoints, node),
  ];
  return found.filter((finding) => finding !== undefined);
}

/** Why no endpoint can be used; undefined if one can. */
function lackOfEndpoints({ entry, ...facts }: PortFacts): Finding | undefined {
  if (entry.endpoints.hasAny) return undefined;
  const { family, name } = entry;
  const { sliceFamilies, slicePorts, endpoints } = facts;
  if (sliceFamilies.length === 0) {
    const label = `no EndpointSlice carries its label kubernetes.io/service-name=${name.name}`;
    const candidates = facts.misplacedSlices();
    return fault(
      'no-slices',
      candidates.length === 0 ? label : `${label}; these may be meant for it: ${candidates.join(', ')}`,
    );
  }
  if (!sliceFamilies.includes(family))
    return fault(
      'other-family',
      `all its EndpointSlices are of family ${sliceFamilies.join(', ')}, its cluster IP is ${family}`,
    );
  return missingPort(name, slicePorts) ?? unusable(endpoints);
}

/** The slices have ports, but not this one. Slices without any port are those of a Service that is scaled to zero. */
function missingPort(
  { port, protocol }: PortIdentity,
  present: readonly PortIdentity[],
): Finding | undefined {
  if (present.length === 0 || present.some((one) => one.port === port && one.protocol === protocol))
    return undefined;
  const named = (one: PortIdentity): string =>
    [
      one.port === '' ? 'one without a name' : one.port,
      ...(one.protocol === protocol ? [] : [`for ${one.protocol}`]),
    ].join(' ');
  const list = [...new Set(present.map(named))].sort().join(', ');
  const wanted = port === '' ? 'without a name' : `named ${port}`;
  const isOfOther = present.some((one) => one.port === port);
  return fault(
    isOfOther ? 'other-protocol' : 'no-such-port',
    `no EndpointSlice has a port ${wanted}${isOfOther ? ` for ${protocol}` : ''} (they have: ${list})`,
  );
}

function unusable(endpoints: readonly Endpoint[]): Finding {
  if (endpoints.length === 0)
    return fault(
      'no-endpoints',
      'its EndpointSlices list no endpoint: no pod has the labels that it selects, or it is scaled to zero',
    );
  const terminating = endpoints.filter((endpoint) => endpoint.terminating).length;
  if (terminating === endpoints.length)
    return fault('all-terminating', `${counted(endpoints)}, all terminating and no longer serving`);
  const also = terminating === 0 ? '' : `, ${terminating} terminating`;
  return fault('none-ready', `${counted(endpoints)}, none ready${also}`);
}

function draining({ endpoints }: ForwardingEntry): Finding | undefined {
  const { reachable } = endpoints;
  if (reachable.length === 0 || reachable.some(({ ready }) => ready)) return undefined;
  return note(
    'draining',
    `no endpoint is ready; traffic goes to ${reachable.length} terminating, still serving`,
  );
}

function noneLocal({ endpoints, frontends }: ForwardingEntry): Finding | undefined {
  const silent = frontends.filter(({ outcome }) => outcome === 'drop');
  if (!endpoints.hasAny || silent.length === 0) return undefined;
  const kinds = [...new Set(silent.map(({ kind }) => kind))].join(', ');
  return note('none-local', `the policy of ${kinds} is Local, and no endpoint on this node is usable`);
}

function otherZones(
  { endpoints }: ForwardingEntry,
  all: readonly Endpoint[],
  node: Node | undefined,
): Finding | undefined {
  const reachable = new Set(endpoints.reachable.map(endpointPlace));
  const excluded = all.filter(
    (endpoint) =>
      endpoint.ready &&
      !reachable.has(endpointPlace(endpoint)) &&
      endpoint.zoneHints.length + endpoint.nodeHints.length > 0,
  );
  if (excluded.length === 0 || !node) return undefined;
  const zones = [...new Set(excluded.flatMap(({ zoneHints }) => zoneHints))].sort();
  const where = zones.length > 0 ? `zone ${zones.join(', ')}` : 'other nodes';
  return note(
    'other-zones',
    `${excluded.length} ready ${excluded.length === 1 ? 'endpoint is' : 'endpoints are'} hinted for ${where}; this node is in zone ${node.zone === '' ? '(none)' : node.zone}`,
  );
}

/** Why clients outside this node get a frontend's outcome. */
export function frontendReason(
  { endpoints }: ForwardingEntry,
  { policy, outcome }: Frontend,
  findings: readonly Finding[],
): string {
  const { text } = findings.find(({ kind }) => LACKS.has(kind)) ?? { text: 'no endpoint is usable' };
  switch (outcome) {
    case 'reject':
      return text;
    case 'drop':
      return 'the policy is Local, and no endpoint on this node is usable';
    case 'forward': {
      const count = (policy === 'Local' ? endpoints.local : endpoints.cluster)?.length ?? 0;
      const where = policy === 'Local' ? ' on this node' : '';
      return count > 0
        ? `to ${count} endpoint${count === 1 ? '' : 's'}${where}`
        : 'endpoints exist, but their hints exclude this node';
    }
  }
}

const LACKS: ReadonlySet<FindingKind> = new Set([
  'no-slices',
  'other-family',
  'no-such-port',
  'other-protocol',
  'no-endpoints',
  'all-terminating',
  'none-ready',
]);

/** Why an endpoint is not used although it is ready. */
export function unusedReason(endpoint: Endpoint, { endpoints }: ForwardingEntry): string | undefined {
  if (!endpoint.ready) return undefined;
  if (!endpoints.cluster && !endpoint.isLocal) return 'the policy is Local, and it is on another node';
  const { zoneHints, nodeHints } = endpoint;
  if (zoneHints.length + nodeHints.length > 0) return 'hinted for others than this node';
  return undefined;
}

function counted(endpoints: readonly Endpoint[]): string {
  return `${endpoints.length} endpoint${endpoints.length === 1 ? '' : 's'}`;
}

function fault(kind: FindingKind, text: string): Finding {
  return { kind, isFault: true, text };
}

function note(kind: FindingKind, text: string): Finding {
  return { kind, isFault: false, text };
}
