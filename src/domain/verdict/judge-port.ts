/** The verdicts on a service port and on each of its frontends. */

import {
  requestedFrontends,
  type ForwardingEntry,
  type Frontend,
  type PacketOutcome,
} from '../forwarding/forwarding-entry.js';
import { frontendName } from '../forwarding/forwarding-entry.js';
import { distinctCount, endpointPlace, type Endpoint, type PortIdentity } from '../model/endpoint.js';
import { serviceKey, type ServiceKey } from '../model/service-port-name.js';
import type { ServicePortSpec } from '../model/service.js';
import { ejectedOf } from '../select-endpoints.js';
import type { ClusterState } from '../state/cluster-state.js';
import { conflict, conflictOutcome, conflictVerdict, type ConflictingFrontend } from './conflicts.js';
import * as sentences from './sentences.js';
import type { NamedService } from './sentences.js';
import { worstFirst, type Verdict } from './verdict.js';

/** The outcome of the last attempt to program a service port. */
export interface ProgrammingStatus {
  readonly state: 'programmed' | 'degraded' | 'failed';
  readonly reason?: string;
  /** Its frontends that others have. */
  readonly conflicts?: readonly ConflictingFrontend[] | undefined;
  /** In which other ways it is not programmed as requested. */
  readonly limits?: readonly string[] | undefined;
  /** As in `ServiceFailure`. */
  readonly limitedBy?: 'mode' | 'node' | undefined;
}

/** A setting of the kernel that stops traffic of a service port. */
export interface KernelObstacle {
  readonly kind: 'not-forwarded' | 'bridged';
  readonly text: string;
  affects(endpoint: Endpoint): boolean;
}

/** A service port, and what is known of it on this node. */
export interface JudgedPort {
  readonly entry: ForwardingEntry;
  /** All endpoints that the cluster lists for it. */
  readonly endpoints: readonly Endpoint[];
  /** Undefined: never attempted. */
  readonly status: ProgrammingStatus | undefined;
  /** Endpoints that do not answer, besides the ejected ones: their connections without an answer, by `ip:port`. */
  readonly unresponsive?: ReadonlyMap<string, number> | undefined;
  readonly obstacles?: readonly KernelObstacle[] | undefined;
  /** Where the proxy itself listens for its node port. */
  readonly localhost?: string | undefined;
  /** The entry of the service port that has a frontend; undefined if it is gone by now. */
  ownerOf?(conflict: ConflictingFrontend): ForwardingEntry | undefined;
}

/** What clients outside this node get, and why. `conflict`: what another Service offers there. */
export interface FrontendVerdict extends Verdict {
  readonly outcome: PacketOutcome | 'conflict';
}

/** Whether other service ports have all its frontends, so that nothing leads to its endpoints. */
export function hasNoFrontend(entry: ForwardingEntry, status: ProgrammingStatus | undefined): boolean {
  const lost = status?.conflicts?.length ?? 0;
  return entry.frontends.length === 0 || lost === requestedFrontends(entry).length;
}

type Cluster = Pick<ClusterState, 'service' | 'slicesOf' | 'slicePorts' | 'node'>;

/** Everything that stops or limits the traffic of a service port, the worst first; if there is nothing, that it is ok. */
export function judgePort(cluster: Cluster, port: JudgedPort): readonly Verdict[] {
  const { entry, endpoints, obstacles = [] } = port;
  const service = namedService(cluster, entry);
  const found = [
    ...obstacles.map(({ kind, text }) => sentences.kernelObstacle(kind, text)),
    ...programming(service, port),
    lackOfEndpoints(cluster, service, port),
    onlyTerminating(service, entry),
    noLocalEndpoint(service, entry),
    unresponsive(port),
    otherZones(cluster, port),
    port.status ? undefined : sentences.pending(),
  ].filter((one) => one !== undefined);
  if (found.length > 0) return found.sort(worstFirst);
  return [sentences.healthy(distinctCount(endpoints.filter(({ ready }) => ready)), distinctCount(endpoints))];
}

/** Of each requested frontend, in their order. @param verdicts of the port */
export function judgeFrontends(
  cluster: Cluster,
  port: JudgedPort,
  verdicts: readonly Verdict[],
): readonly FrontendVerdict[] {
  const { entry, status } = port;
  const service = namedService(cluster, entry);
  const state = hasNoFrontend(entry, status) ? 'error' : 'warning';
  const conflictAt = (frontend: Frontend): ConflictingFrontend | undefined =>
    status?.conflicts?.find((one) => one.frontend === nameOf(frontend, entry));
  return requestedFrontends(entry).map((frontend): FrontendVerdict => {
    const lost = conflictAt(frontend);
    if (!lost) return ownFrontend(service, port, frontend, verdicts);
    const owner = port.ownerOf?.(lost);
    const its = owner?.frontends.find((one) => nameOf(one, owner) === lost.frontend);
    const outcome = owner && its && conflictOutcome(its.outcome, usedBy(owner, its).map(endpointPlace));
    return { outcome: 'conflict', ...conflictVerdict(lost, outcome, state, service) };
  });
}

function nameOf({ address, port }: Frontend, { name }: ForwardingEntry): string {
  return frontendName(address, port, name.protocol);
}

function usedBy({ endpoints }: ForwardingEntry, { policy }: Frontend): readonly Endpoint[] {
  return (policy === 'Local' ? endpoints.local : endpoints.cluster) ?? [];
}

function namedService(cluster: Cluster, { name: { namespace, name } }: ForwardingEntry): NamedService {
  return cluster.service(serviceKey(namespace, name)) ?? { namespace, name };
}

function ownFrontend(
  service: NamedService,
  { entry, obstacles = [], localhost }: JudgedPort,
  frontend: Frontend,
  verdicts: readonly Verdict[],
): FrontendVerdict {
  const { outcome, policy } = frontend;
  if (outcome === 'reject') {
    const lack = verdicts.find(({ cause }) => cause !== undefined && LACKS.has(cause));
    return { outcome, ...(lack ?? sentences.noEndpoint(service)) };
  }
  if (outcome === 'drop')
    return { outcome, ...sentences.noLocalEndpoint(service, frontend.kind === 'cluster-ip') };
  const used = usedBy(entry, frontend);
  const off = obstacles.find(({ kind }) => kind === 'not-forwarded');
  if (off && used.every((endpoint) => off.affects(endpoint)))
    return { outcome: 'drop', ...sentences.kernelObstacle(off.kind, off.text) };
  const also =
    frontend.kind === 'node-port' && localhost !== undefined
      ? `the proxy itself listens on ${localhost}`
      : undefined;
  return { outcome, ...sentences.forwarded(distinctCount(used), policy === 'Local', also) };
}

function programming(service: NamedService, { entry, status }: JudgedPort): readonly Verdict[] {
  if (!status) return [];
  const { state, reason = '', conflicts = [], limitedBy } = status;
  if (state === 'failed') return [sentences.programmingFailed(reason, limitedBy)];
  const { limits = conflicts.length === 0 && state === 'degraded' ? [reason] : [] } = status;
  return [
    ...(conflicts.length > 0 ? [conflict(service, conflicts, hasNoFrontend(entry, status))] : []),
    ...(limits.length > 0 ? [sentences.limited(service, limits)] : []),
  ];
}

/** Causes of `lackOfEndpoints`. */
const LACKS: ReadonlySet<string> = new Set([
  'NoEndpointSlice',
  'OtherFamily',
  'NoSuchPort',
  'OtherProtocol',
  'NoSuchTargetPort',
  'NoPodSelected',
  'NoEndpoint',
  'AllTerminating',
  'NoReadyEndpoint',
]);

/** Why no endpoint can be used; undefined if one can. */
function lackOfEndpoints(
  cluster: Cluster,
  service: NamedService,
  { entry: { name, family, endpoints: selection }, endpoints }: JudgedPort,
): Verdict | undefined {
  if (selection.hasAny) return undefined;
  const key = serviceKey(name.namespace, name.name);
  const slices = cluster.slicesOf(key);
  const families = [...new Set(slices.map((slice) => slice.family))];
  if (families.length === 0) return sentences.noSlices(service);
  if (!families.includes(family)) return sentences.otherFamily(service, families, family);
  const present = cluster.slicePorts(key, family);
  const isPortless = slices.some((slice) => slice.family === family && slice.portless !== undefined);
  // Slices without ports and endpoints are those of a Service that selects no pod.
  const isMissing = present.length > 0 || isPortless;
  const missing = isMissing && missingPort(service, name, present, cluster.service(key)?.ports ?? []);
  return missing || unusable(service, endpoints);
}

/**
 * The slices have other ports, or endpoints without any. A port that no pod has under its name is left out of the slices.
 * @param present the ports of the slices
 */
function missingPort(
  service: NamedService,
  { port, protocol }: PortIdentity,
  present: readonly PortIdentity[],
  servicePorts: readonly ServicePortSpec[],
): Verdict | undefined {
  const isIt = (one: PortIdentity): boolean => one.port === port && one.protocol === protocol;
  if (present.some(isIt)) return undefined;
  const isOfService = (one: PortIdentity): boolean =>
    servicePorts.some(({ name, protocol: its }) => one.port === name && one.protocol === its);
  const target = servicePorts.find((one) => isIt({ port: one.name, protocol: one.protocol }))?.targetName;
  if (target !== undefined && present.every(isOfService)) return sentences.noSuchTargetPort(service, target);
  return sentences.noSuchPort(service, { port, protocol }, present);
}

function unusable(service: NamedService, endpoints: readonly Endpoint[]): Verdict {
  const count = distinctCount(endpoints);
  if (count === 0) return sentences.noEndpoint(service);
  const terminating = distinctCount(endpoints.filter((endpoint) => endpoint.terminating));
  return terminating === count
    ? sentences.allTerminating(service, count)
    : sentences.noneReady(service, count, terminating);
}

function onlyTerminating(service: NamedService, { endpoints }: ForwardingEntry): Verdict | undefined {
  const { reachable } = endpoints;
  return reachable.length === 0 || reachable.some(({ ready }) => ready)
    ? undefined
    : sentences.onlyTerminating(service, distinctCount(reachable));
}

function noLocalEndpoint(
  service: NamedService,
  { endpoints, frontends }: ForwardingEntry,
): Verdict | undefined {
  const dropping = frontends.filter(({ outcome }) => outcome === 'drop');
  if (!endpoints.hasAny || dropping.length === 0) return undefined;
  // A load balancer goes elsewhere. Pods and programs of this node cannot.
  return sentences.noLocalEndpoint(
    service,
    dropping.some(({ kind }) => kind === 'cluster-ip'),
  );
}

function unresponsive({ entry, endpoints, unresponsive: counted }: JudgedPort): Verdict | undefined {
  if (!counted && !entry.endpoints.ejected) return undefined;
  const ejected = new Set(ejectedOf(entry.endpoints).map(endpointPlace));
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  const found = ready.flatMap((endpoint) => {
    const place = endpointPlace(endpoint);
    const unansweredConnections = counted?.get(place);
    return unansweredConnections === undefined && !ejected.has(place)
      ? []
      : { ...endpoint, unansweredConnections };
  });
  return found.length === 0
    ? undefined
    : sentences.unresponsive(entry.name.namespace, found, distinctCount(ready));
}

function otherZones(
  { node }: Cluster,
  { entry: { endpoints }, endpoints: all }: JudgedPort,
): Verdict | undefined {
  if (!node || !all.some(isHinted)) return undefined;
  const reachable = new Set([...endpoints.reachable, ...ejectedOf(endpoints)].map(endpointPlace));
  const excluded = all.filter(
    (endpoint) =>
      endpoint.ready &&
      endpoint.weight !== 0 &&
      isHinted(endpoint) &&
      !reachable.has(endpointPlace(endpoint)),
  );
  if (excluded.length === 0) return undefined;
  const zones = [...new Set(excluded.flatMap(({ zoneHints }) => zoneHints))].sort();
  return sentences.otherZones(distinctCount(excluded), zones, node.zone);
}

function isHinted({ zoneHints, nodeHints }: Endpoint): boolean {
  return zoneHints.length + nodeHints.length > 0;
}

/** How many slices are named. */
const MOST_SLICES = 5;

/**
 * EndpointSlices that may be meant for a Service without any: of its namespace, named after it without a label, or labeled
 * with the name of no Service. Searches all slices, so only for a requested explanation.
 * @param isInvalid whether there is such a Service, although it is ignored
 */
export function misplacedSlices(
  state: ClusterState,
  service: ServiceKey,
  isInvalid: (service: ServiceKey) => boolean,
): readonly string[] {
  const [namespace = ''] = service.split('/');
  const found: string[] = [];
  for (const slice of state.unlabeledSlices())
    if (slice.startsWith(`${service}-`)) found.push(`${slice} (without the label)`);
  for (const slice of state.allSlices()) {
    if (slice.namespace !== namespace) continue;
    const owner = serviceKey(namespace, slice.service);
    if (state.service(owner) || state.notProxiedKind(owner) !== undefined || isInvalid(owner)) continue;
    found.push(`${serviceKey(namespace, slice.name)} (labeled ${slice.service}, which is no Service)`);
  }
  return found.sort().slice(0, MOST_SLICES);
}
