import { mostEjected, type Places } from './failover/ejected-endpoints.js';
import { endpointPlace, sortedOnce, type Endpoint } from './model/endpoint.js';
import { subset } from './model/subset.js';

/** The properties of this node that affect selection. */
export interface NodeTopology {
  readonly nodeName: string;
  /** "" when the node has no zone. */
  readonly zone: string;
  /** Feature gate PreferSameTrafficDistribution: node hints count. */
  readonly nodeHints: boolean;
}

/** Which lists a service port needs (docs/internals/spec/model.md §2.2). */
export interface PolicyNeeds {
  readonly usesClusterEndpoints: boolean;
  readonly usesLocalEndpoints: boolean;
}

/** The endpoints for traffic, by policy (docs/internals/spec/model.md §4). Lists are sorted by `ip:port`. */
export interface EndpointSelection {
  /** For the policy Cluster. Undefined when no frontend needs it. */
  readonly cluster: readonly Endpoint[] | undefined;
  /** For the policy Local. Undefined when no frontend needs it. */
  readonly local: readonly Endpoint[] | undefined;
  /** All endpoints that any frontend may reach. */
  readonly reachable: readonly Endpoint[];
  /** Some endpoint is usable, though perhaps not for this node. */
  readonly hasAny: boolean;
  /** The endpoints of weight 0 that the lists lack: they get no new connections and keep those that they have. Missing: none. */
  readonly weightless?: OmittedEndpoints;
  /** The ejected endpoints that the lists lack: at most half of each list. Missing: none. */
  readonly ejected?: OmittedEndpoints;
}

/** Usable endpoints that get no new connections, by the list that lacks them. Sorted. */
export interface OmittedEndpoints {
  readonly cluster: readonly Endpoint[];
  readonly local: readonly Endpoint[];
}

type Topology = 'none' | 'PreferSameNode' | 'PreferSameZone';

/**
 * Selects among all endpoints of a service port (sorted) for traffic that this node handles.
 * @param ejected unresponsive endpoints, by `ip:port`: they are left out of each list of which they are at most half
 */
export function selectEndpoints(
  all: readonly Endpoint[],
  needs: PolicyNeeds,
  node: NodeTopology,
  ejected?: Places,
): EndpointSelection {
  const selected = select(all, needs, node);
  // An endpoint of weight 0 gets no new connections where there are others.
  const weighted = selected.reachable.some(isWeightless)
    ? without(selected, 'weightless', isWeightless, (count, length) => count < length)
    : selected;
  if (!ejected?.size) return weighted;
  const isEjected = (endpoint: Endpoint): boolean => ejected.has(endpointPlace(endpoint));
  return without(weighted, 'ejected', isEjected, (count, length) => count <= mostEjected(length));
}

/** The endpoints for new connections, for each policy in use, by `ip:port`: ejected ones included. */
export function wholeLists({ cluster, local, ejected }: EndpointSelection): readonly ReadonlySet<string>[] {
  const whole = (list: readonly Endpoint[], lacking: readonly Endpoint[] = []): ReadonlySet<string> =>
    new Set([...list, ...lacking].map(endpointPlace));
  return [
    ...(cluster ? [whole(cluster, ejected?.cluster)] : []),
    ...(local ? [whole(local, ejected?.local)] : []),
  ];
}

/** All endpoints that are ejected from some list, sorted. */
export function ejectedOf({ ejected }: EndpointSelection): readonly Endpoint[] {
  return ejected ? union(ejected.cluster, ejected.local) : [];
}

/** All endpoints that some list lacks because their weight is 0, sorted. */
export function weightlessOf({ weightless }: EndpointSelection): readonly Endpoint[] {
  return weightless ? union(weightless.cluster, weightless.local) : [];
}

function isWeightless({ weight }: Endpoint): boolean {
  return weight === 0;
}

/**
 * Leaves endpoints out of the lists.
 * @param name of the property that gets what is left out
 * @param isAllowed whether this number may be left out of a list of that length
 */
function without(
  selection: EndpointSelection,
  name: 'weightless' | 'ejected',
  isOmitted: (endpoint: Endpoint) => boolean,
  isAllowed: (count: number, length: number) => boolean,
): EndpointSelection {
  const divide = (list: readonly Endpoint[] | undefined) => {
    const omitted = subset(list ?? [], isOmitted);
    return list && isAllowed(omitted.length, list.length)
      ? { left: subset(list, (endpoint) => !isOmitted(endpoint)), omitted }
      : { left: list, omitted: [] };
  };
  const [cluster, local] = [divide(selection.cluster), divide(selection.local)];
  if (cluster.omitted.length + local.omitted.length === 0) return selection;
  return {
    ...selection,
    cluster: cluster.left,
    local: local.left,
    reachable: union(cluster.left ?? [], local.left ?? []),
    [name]: { cluster: cluster.omitted, local: local.omitted },
  };
}

function select(
  all: readonly Endpoint[],
  { usesClusterEndpoints, usesLocalEndpoints }: PolicyNeeds,
  node: NodeTopology,
): EndpointSelection {
  const topology = usesClusterEndpoints ? topologyOf(all, node) : 'none';
  const cluster = usesClusterEndpoints ? clusterEndpoints(all, topology, node) : undefined;
  if (!usesLocalEndpoints) {
    const reachable = cluster ?? [];
    return { cluster, local: undefined, reachable, hasAny: reachable.length > 0 };
  }
  const { local, terminating } = localEndpoints(all);
  const hasAny = all.some((endpoint) => endpoint.ready || drains(endpoint));
  if (!cluster) return { cluster, local, reachable: local, hasAny };
  const localIsContained = topology === 'none' && !terminating;
  return { cluster, local, reachable: localIsContained ? cluster : union(cluster, local), hasAny };
}

/** Still serves although its pod is terminating. */
function drains(endpoint: Endpoint): boolean {
  return endpoint.serving && endpoint.terminating;
}

function topologyOf(all: readonly Endpoint[], { nodeName, zone, nodeHints }: NodeTopology): Topology {
  const decides = (hints: (endpoint: Endpoint) => readonly string[], here: string): boolean => {
    let hinted = false;
    for (const endpoint of all) {
      if (!endpoint.ready) continue;
      if (hints(endpoint).length === 0) return false;
      hinted ||= hints(endpoint).includes(here);
    }
    return hinted;
  };
  if (nodeHints && decides((endpoint) => endpoint.nodeHints, nodeName)) return 'PreferSameNode';
  if (zone !== '' && decides((endpoint) => endpoint.zoneHints, zone)) return 'PreferSameZone';
  return 'none';
}

function clusterEndpoints(
  all: readonly Endpoint[],
  topology: Topology,
  node: NodeTopology,
): readonly Endpoint[] {
  const available = (endpoint: Endpoint) =>
    topology === 'none' ||
    (topology === 'PreferSameNode'
      ? endpoint.nodeHints.includes(node.nodeName)
      : endpoint.zoneHints.includes(node.zone));
  const ready = subset(all, (endpoint) => endpoint.ready && available(endpoint));
  return ready.length > 0 ? ready : subset(all, drains);
}

function localEndpoints(all: readonly Endpoint[]): { local: readonly Endpoint[]; terminating: boolean } {
  const here = subset(all, (endpoint) => endpoint.isLocal);
  const ready = subset(here, (endpoint) => endpoint.ready);
  if (ready.length > 0) return { local: ready, terminating: false };
  const draining = subset(here, drains);
  return { local: draining, terminating: draining.length > 0 };
}

function union(one: readonly Endpoint[], other: readonly Endpoint[]): readonly Endpoint[] {
  return sortedOnce([...one, ...other]);
}
