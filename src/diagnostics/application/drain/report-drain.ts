import { endpointPlace, type Endpoint } from '../../../domain/model/endpoint.js';
import { listedEndpoints, type EndpointSlice, type SlicePort } from '../../../domain/model/endpoint-slice.js';
import {
  displayName,
  serviceKey,
  serviceOf,
  servicePortKey,
  type Protocol,
  type ServicePortName,
} from '../../../domain/model/service-port-name.js';
import { timeText } from '../../../domain/model/text.js';
import { parseAddress } from '../../../domain/net/address.js';
import { familyOf } from '../../../domain/net/ip-family.js';
import { splitHostPort } from '../../../domain/net/listen-address.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import { isNodeProblem } from '../../../application/status/port-status.js';
import type { ServiceStatuses } from '../../../application/status/service-statuses.js';
import type {
  ConnectionCounts,
  OpenConnections,
  ProtocolPlace,
  TerminatingEndpoints,
} from '../../../application/traffic/terminating-endpoints.js';
import type { NodeDrain, NodeEndpoint } from '../../domain/drain.js';
import type { ListedLoop } from '../status/list-services.js';
import { parsePodName, podsIn, type NamedPod } from '../trace/named-ends.js';

/** Which endpoints are meant: those of pods, on nodes, or at addresses. Nothing at all: those that terminate. */
export interface DrainTargets {
  readonly pods: readonly NamedPod[];
  readonly nodes: readonly string[];
  /** Canonical. */
  readonly addresses: readonly string[];
}

const NODE = /^(?:(?:node|nodes|no)\/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)$/;

/**
 * Reads targets: `NODE`, `node/NODE`, `pod/NAME`, `NAMESPACE/NAME`, addresses.
 * @param namespace of pods without one
 * @returns the first that is none of these
 */
export function readDrainTargets(texts: readonly string[], namespace?: string): DrainTargets | string {
  const pods: NamedPod[] = [];
  const nodes: string[] = [];
  const addresses: string[] = [];
  for (const text of texts) {
    const address = parseAddress(text);
    const [, node] = NODE.exec(text) ?? [];
    const pod = parsePodName(text, namespace);
    if (address) addresses.push(address.text);
    else if (node !== undefined) nodes.push(node);
    else if (pod) pods.push(pod);
    else return text;
  }
  return { pods, nodes, addresses };
}

/** What such a report is made of. */
export interface DrainSources {
  /** The name of this node. */
  readonly node: string;
  readonly state: ClusterState;
  readonly loops: readonly Pick<ListedLoop, 'family' | 'table' | 'isWaiting'>[];
  readonly statuses: Pick<ServiceStatuses, 'get'>;
  readonly terminating: Pick<TerminatingEndpoints, 'since'>;
  readonly connections: Pick<OpenConnections, 'to'>;
  /** Whether all Services and EndpointSlices have been listed. */
  readonly isListed: () => boolean;
}

/** Use case ReportDrain: the connections through this node that still lead to endpoints. Looks at all endpoints of the cluster. */
export class ReportDrain {
  constructor(private readonly sources: DrainSources) {}

  /**
   * @throws UnknownPodError if a pod is no endpoint of a Service, the signal's reason when aborted
   */
  async report(targets: DrainTargets, signal: AbortSignal): Promise<NodeDrain> {
    const { node, state, connections, isListed } = this.sources;
    const pods = targets.pods.flatMap((pod) => podsIn(state, pod).flatMap(({ ips }) => ips));
    const addresses = new Set([...targets.addresses, ...pods]);
    // Before connections are counted: one that begins later leads elsewhere.
    const endpoints = this.endpoints(targets, addresses);
    for (const { address } of endpoints.values()) addresses.add(address);
    const result: ConnectionCounts = isListed()
      ? await connections.to(addresses, signal)
      : { unseenReason: 'not all objects have been listed yet' };
    return {
      node,
      endpoints: withCounts(endpoints, result),
      addresses: [...addresses],
      ...('unseenReason' in result && { unseenReason: result.unseenReason }),
    };
  }

  private endpoints(
    { nodes, ...targets }: DrainTargets,
    addresses: ReadonlySet<string>,
  ): Map<ProtocolPlace, NodeEndpoint> {
    const isAny = nodes.length + targets.pods.length + targets.addresses.length === 0;
    const isMeant = ({ address, nodeName = '', terminating }: Omit<Endpoint, 'port'>): boolean =>
      isAny ? terminating : addresses.has(address) || nodes.includes(nodeName);
    const found = new Map<ProtocolPlace, NodeEndpoint>();
    for (const slice of this.sources.state.allSlices())
      for (const port of slice.ports) {
        if (!listedEndpoints(port).some(isMeant)) continue;
        for (const endpoint of port.endpoints) {
          if (!isMeant(endpoint)) continue;
          const place: ProtocolPlace = `${port.protocol} ${endpointPlace(endpoint)}`;
          found.set(place, this.merged(found.get(place), slice, port, endpoint));
        }
      }
    return found;
  }

  /** @param former the same endpoint, of another Service or slice */
  private merged(
    former: NodeEndpoint | undefined,
    { namespace, service }: EndpointSlice,
    { name: port, protocol }: SlicePort,
    endpoint: Endpoint,
  ): NodeEndpoint {
    const { address, pod, nodeName, terminating } = endpoint;
    const name = { namespace, name: service, port, protocol };
    const since = terminating ? this.sources.terminating.since(address) : undefined;
    return {
      ...{ address, port: endpoint.port, protocol },
      ...(pod !== undefined && { pod: serviceKey(namespace, pod) }),
      ...(nodeName !== undefined && { nodeName }),
      services: [...new Set([...(former?.services ?? []), displayName(name)])],
      ...(since !== undefined && { terminatingSinceTime: timeText(since) }),
      openConnections: 0,
      inUse: former?.inUse === true || this.isUsed(name, endpoint),
    };
  }

  /** Whether the rules in the kernel may lead new connections of a service port to this endpoint. */
  private isUsed(name: ServicePortName, endpoint: Pick<Endpoint, 'address' | 'port'>): boolean {
    const { loops, statuses } = this.sources;
    const key = servicePortKey(name);
    const place = endpointPlace(endpoint);
    return loops.some((loop) => {
      if (loop.family !== familyOf(endpoint.address)) return false;
      const status = statuses.get(loop.family, key);
      const mayHaveFormerRules =
        loop.isWaiting(serviceOf(key)) || (status?.state === 'failed' && isNodeProblem('failed', status));
      return (
        mayHaveFormerRules ||
        loop.table.entry(key)?.endpoints.reachable.some((one) => endpointPlace(one) === place) === true
      );
    });
  }
}

/** The endpoints with their connections, and those to other ports of the same addresses. */
function withCounts(
  endpoints: ReadonlyMap<ProtocolPlace, NodeEndpoint>,
  result: ConnectionCounts,
): readonly NodeEndpoint[] {
  const counts = new Map('counts' in result ? result.counts : []);
  const known = Array.from(endpoints, ([place, endpoint]): NodeEndpoint => {
    const openConnections = counts.get(place) ?? 0;
    counts.delete(place);
    return { ...endpoint, openConnections };
  });
  const others = Array.from(counts, ([text, openConnections]): NodeEndpoint => {
    const [protocol, place] = text.split(' ') as [Protocol, string];
    const { host: address, port } = splitHostPort(place)!;
    return { address, port: Number(port), protocol, services: [], openConnections, inUse: false };
  });
  return [...known, ...others];
}
