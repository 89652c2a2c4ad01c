import type { ForwardingEntry, Frontend } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { endpointPlace, type Endpoint } from '../../../src/domain/model/endpoint.js';
import { isLoopback } from '../../../src/domain/net/address.js';
import { cidrContains, parseCidr } from '../../../src/domain/net/cidr.js';
import type { Packet } from '../../../src/diagnostics/domain/trace/trace.js';

/** What must become of a packet: each endpoint that may be drawn, with whether the source is rewritten on the way. */
export type Expected = 'reject' | 'drop' | 'untouched' | ReadonlyMap<string, boolean>;

/** The table of docs/internals/spec/model.md §5, applied to one packet, without any knowledge of rules. */
export function expectedOutcome(
  entries: readonly ForwardingEntry[],
  node: NodeNetwork,
  packet: Packet,
  localAddresses: ReadonlySet<string>,
): Expected {
  const { destination, source } = packet;
  const clusterIPs = new Set(
    entries.flatMap(({ frontends }) =>
      frontends.flatMap(({ kind, address }) => (kind === 'cluster-ip' ? address : [])),
    ),
  );
  const toClusterIP = clusterIPs.has(destination);
  const found = frontendOf(entries, node, packet, localAddresses);
  if (!found) {
    if (localAddresses.has(destination)) return 'untouched';
    if (toClusterIP) return 'reject';
    return node.serviceCIDRs.some((range) => cidrContains(parseCidr(range)!, destination))
      ? 'drop'
      : 'untouched';
  }
  const { entry, frontend } = found;
  if (frontend.kind === 'load-balancer-ip' && !isAdmitted(entry, source)) return 'drop';
  const { hasAny, cluster = [], local = [] } = entry.endpoints;
  if (!hasAny) return 'reject';
  const isPod = isLocalPod(node, packet);
  const clusterIPMasquerade = toClusterIP && (node.masqueradeAll || (node.detector !== undefined && !isPod));
  const send = (endpoints: readonly Endpoint[], masquerade: boolean): Expected =>
    new Map(
      endpoints.map((endpoint) => [
        endpointPlace(endpoint),
        masquerade || clusterIPMasquerade || isHairpin(entries, packet, endpoint.address, endpoint.port),
      ]),
    );
  if (frontend.kind === 'cluster-ip') {
    if (!entry.internalPolicyLocal) return send(cluster, false);
    return local.length > 0 ? send(local, false) : 'drop';
  }
  if (!entry.externalPolicyLocal) return send(cluster, true);
  if (isPod) return send(cluster, false);
  if (localAddresses.has(source)) return send(cluster, true);
  return local.length > 0 ? send(local, false) : 'drop';
}

/** Where service ports claim the same frontend, the first by key has it; within one, the last of its frontends. */
function frontendOf(
  entries: readonly ForwardingEntry[],
  node: NodeNetwork,
  { destination, destinationPort, protocol }: Packet,
  localAddresses: ReadonlySet<string>,
): { entry: ForwardingEntry; frontend: Frontend } | undefined {
  const ordered = [...entries]
    .filter(({ name }) => name.protocol === protocol)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const find = (matches: (frontend: Frontend) => boolean) => {
    for (const entry of ordered) {
      const frontend = [...entry.frontends].reverse().find(matches);
      if (frontend) return { entry, frontend };
    }
    return undefined;
  };
  const byAddress = find(({ address, port }) => address === destination && port === destinationPort);
  if (byAddress) return byAddress;
  const takesNodePorts =
    node.nodePortIPs === 'all'
      ? localAddresses.has(destination) && !isLoopback({ family: node.family, text: destination })
      : node.nodePortIPs.includes(destination);
  return takesNodePorts
    ? find(({ kind, port }) => kind === 'node-port' && port === destinationPort)
    : undefined;
}

function isAdmitted(
  { sourceRanges, sourceRangesCoverNode, frontends }: ForwardingEntry,
  source: string,
): boolean {
  if (sourceRanges.length === 0 || sourceRanges.some((range) => cidrContains(range, source))) return true;
  return (
    sourceRangesCoverNode &&
    frontends.some(({ kind, address }) => kind === 'load-balancer-ip' && address === source)
  );
}

function isLocalPod({ detector }: NodeNetwork, { source, inputInterface = '' }: Packet): boolean {
  if (!detector) return false;
  if (detector.kind === 'cidr') return cidrContains(detector.cidr, source);
  return detector.wildcard ? inputInterface.startsWith(detector.name) : inputInterface === detector.name;
}

/** A pod of this node that is sent to itself, by whichever service. */
function isHairpin(
  entries: readonly ForwardingEntry[],
  { source, protocol }: Packet,
  address: string,
  port: number,
): boolean {
  return (
    address === source &&
    entries.some(
      ({ name, endpoints }) =>
        name.protocol === protocol &&
        endpoints.reachable.some(
          (other) => other.isLocal && other.address === address && other.port === port,
        ),
    )
  );
}
