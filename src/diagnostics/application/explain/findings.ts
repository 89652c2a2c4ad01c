import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint, type PortIdentity } from '../../../domain/model/endpoint.js';
import type { Node } from '../../../domain/model/node.js';
import { serviceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import type { ServicePortSpec } from '../../../domain/model/service.js';
import { ejectedOf } from '../../../domain/select-endpoints.js';
import { fields, flag, text, word } from '../../../domain/shape.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { ForwardingObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { ServiceStatus } from '../../../application/status/service-statuses.js';
import { counted } from '../../../application/words.js';
/** Why a service port has no endpoint that can be used. */
export const LACKS = [
  'no-slices',
  'other-family',
  'no-such-port',
  'other-protocol',
  'no-pod-port',
  'no-endpoints',
  'all-terminating',
  'none-ready',
] as const;

export type FindingKind =
  | (typeof LACKS)[number]
  | 'failed'
  | 'degraded'
  | 'draining'
  | 'none-local'
  | 'other-zones'
  | 'aside'
  | ForwardingObstacle['kind'];

/** Something that stops or limits the traffic of a service port. */
export type Finding = ReturnType<typeof finding>;
export const finding = fields({
  kind: word<FindingKind>(),
  /** Clients are refused, or do not get what the Service asks for. Otherwise it is a matter of policy, or passes. */
  isFault: flag,
  /** For people. */
  text,
});

/**
 * Everything that stops or limits the traffic of a service port, the most important first.
 * @param endpoints all of it, whatever their state
 * @param status undefined if it was never attempted
 */
export function findingsOf(
  state: ClusterState,
  entry: ForwardingEntry,
  endpoints: readonly Endpoint[],
  status: ServiceStatus | undefined,
): readonly Finding[] {
  const found: (Finding | undefined)[] = [
    status && status.state !== 'programmed' ? fault(status.state, status.reason) : undefined,
    lackOfEndpoints(state, entry, endpoints),
    draining(entry),
    noneLocal(entry),
    otherZones(entry, endpoints, state.node),
  ];
  return found.filter((one) => one !== undefined);
}

/** Why no endpoint can be used; undefined if one can. */
function lackOfEndpoints(
  state: ClusterState,
  { name, family, endpoints: { hasAny } }: ForwardingEntry,
  endpoints: readonly Endpoint[],
): Finding | undefined {
  if (hasAny) return undefined;
  const service = serviceKey(name.namespace, name.name);
  const slices = state.slicesOf(service);
  const sliceFamilies = [...new Set(slices.map((slice) => slice.family))];
  if (sliceFamilies.length === 0) {
    const label = `no EndpointSlice carries its label kubernetes.io/service-name=${name.name}`;
    const candidates = misplacedSlices(state, service);
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
  const present = state.slicePorts(service, family);
  const isPortless = slices.some((slice) => slice.family === family && slice.portless !== undefined);
  // Slices without ports and endpoints are those of a Service that is scaled to zero.
  if (present.length === 0 && !isPortless) return unusable(endpoints);
  return missingPort(name, present, state.service(service)?.ports ?? []) ?? unusable(endpoints);
}

/**
 * The slices have other ports, or endpoints without any. A port that no pod has under its name is left out of the slices.
 * @param present the ports of the slices
 */
function missingPort(
  { port, protocol }: PortIdentity,
  present: readonly PortIdentity[],
  servicePorts: readonly ServicePortSpec[],
): Finding | undefined {
  const isIt = (one: PortIdentity): boolean => one.port === port && one.protocol === protocol;
  if (present.some(isIt)) return undefined;
  const isOfService = (one: PortIdentity): boolean =>
    servicePorts.some(({ name, protocol: its }) => one.port === name && one.protocol === its);
  const target = servicePorts.find((one) => isIt({ port: one.name, protocol: one.protocol }))?.targetName;
  if (target !== undefined && present.every(isOfService))
    return fault('no-pod-port', `no pod has a port named ${target}, which the Service's targetPort asks for`);
  if (present.length === 0) return fault('no-such-port', 'its EndpointSlices list endpoints, but no port');
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
    return fault(
      'all-terminating',
      `${counted(endpoints.length, 'endpoint')}, all terminating and no longer serving`,
    );
  const also = terminating === 0 ? '' : `, ${terminating} terminating`;
  return fault('none-ready', `${counted(endpoints.length, 'endpoint')}, none ready${also}`);
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
  const kinds = [...new Set(silent.map(({ kind }) => kind))];
  const why = `the policy of ${kinds.join(', ')} is Local, and no endpoint on this node is usable`;
  // A load balancer goes elsewhere. Pods and programs of this node cannot.
  return kinds.includes('cluster-ip')
    ? fault('none-local', `${why}: what pods here send there is dropped`)
    : note('none-local', why);
}

function otherZones(
  { endpoints }: ForwardingEntry,
  all: readonly Endpoint[],
  node: Node | undefined,
): Finding | undefined {
  const reachable = new Set([...endpoints.reachable, ...ejectedOf(endpoints)].map(endpointPlace));
  const excluded = all.filter(
    (endpoint) =>
      endpoint.ready &&
      endpoint.weight !== 0 &&
      !reachable.has(endpointPlace(endpoint)) &&
      endpoint.zoneHints.length + endpoint.nodeHints.length > 0,
  );
  if (excluded.length === 0 || !node) return undefined;
  const zones = [...new Set(excluded.flatMap(({ zoneHints }) => zoneHints))].sort();
  const where = zones.length > 0 ? `zone ${zones.join(', ')}` : 'other nodes';
  return note(
    'other-zones',
    `${counted(excluded.length, 'ready endpoint is', 'ready endpoints are')} hinted for ${where}; this node is in zone ${node.zone === '' ? '(none)' : node.zone}`,
  );
}

/** @param why as `ejectionText` has it */
export function ejectedFinding(place: string, why: string): Finding {
  return note('aside', `endpoint ${place} ${why}`);
}

/** A setting of the kernel stops traffic. */
export function forwardingFinding({ kind, text: what }: ForwardingObstacle): Finding {
  return fault(kind, what);
}

function fault(kind: FindingKind, what: string): Finding {
  return { kind, isFault: true, text: what };
}

function note(kind: FindingKind, what: string): Finding {
  return { kind, isFault: false, text: what };
}

/** How many slices are named. */
const MOST_SLICES = 5;

/**
 * EndpointSlices that may be meant for a Service without any: of its namespace, named after it without a label, or labeled
 * with the name of no Service. Searches all slices, so only for people who ask.
 */
function misplacedSlices(state: ClusterState, service: ServiceKey): readonly string[] {
  const [namespace = ''] = service.split('/');
  const found: string[] = [];
  for (const slice of state.unlabeledSlices())
    if (slice.startsWith(`${service}-`)) found.push(`${slice} (without the label)`);
  for (const slice of state.allSlices()) {
    if (slice.namespace !== namespace) continue;
    const owner = serviceKey(namespace, slice.service);
    if (state.service(owner) || state.notProxiedKind(owner) !== undefined) continue;
    found.push(`${serviceKey(namespace, slice.name)} (labeled ${slice.service}, which is no Service)`);
  }
  return found.sort().slice(0, MOST_SLICES);
}
