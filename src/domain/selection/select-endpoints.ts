import { sortedOnce, type Endpoint } from '../model/endpoint.js';
import { subset } from '../model/subset.js';

/** The properties of this node that affect selection. */
export interface NodeTopology {
  readonly nodeName: string;
  /** "" when the node has no zone. */
  readonly zone: string;
  /** Feature gate PreferSameTrafficDistribution: node hints count. */
  readonly nodeHints: boolean;
}

/** Which lists a service port needs (docs/spec/model.md §2.2). */
export interface PolicyNeeds {
  readonly usesClusterEndpoints: boolean;
  readonly usesLocalEndpoints: boolean;
}

/** The endpoints for traffic, by policy (docs/spec/model.md §4). Lists are sorted by `ip:port`. */
export interface EndpointSelection {
  /** For the policy Cluster. Undefined when no frontend needs it. */
  readonly cluster: readonly Endpoint[] | undefined;
  /** For the policy Local. Undefined when no frontend needs it. */
  readonly local: readonly Endpoint[] | undefined;
  /** All endpoints that any frontend may reach. */
  readonly reachable: readonly Endpoint[];
  /** Some endpoint is usable, though perhaps not for this node. */
  readonly hasAny: boolean;
}

type Topology = 'none' | 'PreferSameNode' | 'PreferSameZone';

/** Selects among all endpoints of a service port (sorted) for traffic that this node handles. */
export function selectEndpoints(
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
