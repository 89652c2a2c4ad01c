import type { BalancingMethod } from '../../domain/balancing/balancing.js';
import { forwardService } from '../../domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { Endpoint } from '../../domain/model/endpoint.js';
import { getOrMake } from '../../domain/model/maps.js';
import type { Service, ServicePortSpec } from '../../domain/model/service.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import { parseAddress } from '../../domain/net/address.js';
import { parseCidr } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** The properties of a sample service. */
export interface SampleShape {
  /** Makes its addresses different from those of others: 1 to 250. */
  readonly number: number;
  readonly protocol?: Protocol;
  /** How many endpoints it has; every third runs on this node. */
  readonly endpoints?: number;
  readonly nodePort?: number;
  readonly external?: boolean;
  readonly sourceRanges?: boolean;
  readonly affinitySeconds?: number;
  readonly internalPolicyLocal?: boolean;
  readonly externalPolicyLocal?: boolean;
  readonly balancingMethod?: BalancingMethod;
  /** Of its endpoints, in their order. */
  readonly weights?: readonly number[];
}

const PREFIXES = {
  IPv4: {
    cluster: '10.96.77.',
    external: '203.0.113.',
    loadBalancer: '198.51.100.',
    endpoint: '10.244.',
    pods: '10.244.0.0/16',
    office: '192.0.2.0/24',
    node: '192.0.2.1',
  },
  IPv6: {
    cluster: 'fd00:96::',
    external: '2001:db8:e::',
    loadBalancer: '2001:db8:1b::',
    endpoint: 'fd00:244::',
    pods: 'fd00:244::/64',
    office: '2001:db8:2::/64',
    node: '2001:db8:2::1',
  },
} as const;

/**
 * The forwarding entry of a service with one port, as the proxy passes it to a backend. Deeply frozen: backends must
 * not change their input.
 */
export function sampleEntry(family: IpFamily, name: string, shape: SampleShape): ForwardingEntry {
  const { number, protocol = 'TCP', endpoints = 3, nodePort = 0, external = false } = shape;
  const prefix = PREFIXES[family];
  const address = (text: string) => parseAddress(text)!;
  const port: ServicePortSpec = { name: 'main', protocol, port: 80, nodePort };
  const service: Service = {
    namespace: 'contract',
    name,
    type: nodePort === 0 ? 'ClusterIP' : 'NodePort',
    clusterIPs: { [family]: `${prefix.cluster}${number}` },
    ports: [port],
    affinitySeconds: shape.affinitySeconds ?? 0,
    externalIPs: external ? [address(`${prefix.external}${number}`)] : [],
    loadBalancerIPs: external ? [address(`${prefix.loadBalancer}${number}`)] : [],
    sourceRanges: shape.sourceRanges ? [parseCidr(prefix.office)!] : [],
    externalPolicyLocal: shape.externalPolicyLocal ?? false,
    internalPolicyLocal: shape.internalPolicyLocal ?? false,
    healthCheckNodePort: 0,
    ...(shape.balancingMethod !== undefined && { balancingMethod: shape.balancingMethod }),
  };
  const all = sampleEndpoints(family, number, endpoints, shape.weights);
  const [entry] = forwardService(service, () => all, {
    family,
    topology: { nodeName: 'node-1', zone: '', nodeHints: false },
    nodeIP: prefix.node,
    externalIPsAllowed: true,
  });
  return frozen(entry!);
}

/** A node of the family. */
export function sampleNode(family: IpFamily, parts: Partial<NodeNetwork> = {}): NodeNetwork {
  return frozen({
    family,
    detector: { kind: 'cidr', cidr: parseCidr(PREFIXES[family].pods)! },
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: [PREFIXES[family].node],
    serviceCIDRs: [],
    ...parts,
  });
}

/** As the proxy keeps them: a list is the same one as long as nothing of it changes. */
const LISTS = new Map<string, readonly Endpoint[]>();

function sampleEndpoints(
  family: IpFamily,
  number: number,
  count: number,
  weights: readonly number[] = [],
): readonly Endpoint[] {
  return getOrMake(LISTS, JSON.stringify([family, number, count, weights]), () =>
    Array.from({ length: count }, (_, index) => sampleEndpoint(family, number, index, weights[index])),
  );
}

function sampleEndpoint(
  family: IpFamily,
  number: number,
  index: number,
  weight: number | undefined,
): Endpoint {
  const separator = family === 'IPv4' ? '.' : ':';
  const address = `${PREFIXES[family].endpoint}${number}${separator}${index + 1}`;
  return {
    address,
    port: 8080,
    isLocal: index % 3 === 0,
    ready: true,
    serving: true,
    terminating: false,
    zoneHints: [],
    nodeHints: [],
    ...(weight !== undefined && { weight }),
  };
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
