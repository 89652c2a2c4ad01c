import {
  isWeightedList,
  methodOfScheduler,
  type Balancing,
  type BalancingMethod,
} from '../balancing/balancing.js';
import type { Endpoint, PortIdentity } from '../model/endpoint.js';
import { withEffectiveWeights, type WeightLookup } from '../balancing/open-connections.js';
import type { EjectedEndpoints } from '../failover/ejected-endpoints.js';
import { servicePortKey } from '../model/service-port-name.js';
import type { Service, ServicePortSpec } from '../model/service.js';
import { subset } from '../model/subset.js';
import { cidrContains } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import { selectEndpoints, type EndpointSelection, type NodeTopology } from '../select-endpoints.js';
import type { ForwardingEntry, Frontend } from './forwarding-entry.js';
import type { ReservedFrontends } from './reserved-frontends.js';
import { withTableOwners } from './slot-tables.js';

/** The inputs of the decision besides the Service and its endpoints. */
export interface ForwardingContext {
  readonly family: IpFamily;
  readonly topology: NodeTopology;
  /** This node's address of the family, canonical; loopback when unknown. */
  readonly nodeIP: string;
  /** Feature gate AllowServiceExternalIPs. */
  readonly externalIPsAllowed: boolean;
  /** Traffic policies and topology are ignored, and no endpoint is ejected: all traffic may go to all endpoints. Missing means no. */
  readonly everyEndpoint?: boolean;
  /** Unresponsive endpoints are ejected, unless an annotation of the Service overrides it. Missing means no. */
  readonly ejectUnresponsiveEndpoints?: boolean;
  /** Endpoints are chosen by tables of slots, for which there is limited space. Missing means no. */
  readonly usesSlots?: boolean;
  /** Missing means none. The same object as long as nothing of it changes. */
  readonly reserved?: ReservedFrontends;
}

/** What the connections of endpoints have shown, as of each time that entries are computed. Missing: nothing. */
export interface ConnectionFindings {
  /** Used only where unresponsive endpoints are ejected. */
  readonly ejected?: EjectedEndpoints | undefined;
  /** Used only with least connections. */
  readonly weights?: WeightLookup | undefined;
}

/** The forwarding entries of a Service's ports in the context's family; none without a cluster IP of that family. */
export function forwardService(
  service: Service,
  endpointsOf: (port: PortIdentity) => readonly Endpoint[],
  context: ForwardingContext,
  findings: ConnectionFindings = {},
): readonly ForwardingEntry[] {
  const clusterIP = service.clusterIPs[context.family];
  if (clusterIP === undefined) return [];
  const { everyEndpoint, topology } = context;
  const used = everyEndpoint
    ? { ...context, topology: { ...topology, zone: '', nodeHints: false } }
    : context;
  const entries = service.ports.map((port) =>
    forwardPort(service, port, clusterIP, endpointsOf, used, findings),
  );
  return context.usesSlots ? withTableOwners(entries) : entries;
}

function forwardPort(
  service: Service,
  port: ServicePortSpec,
  clusterIP: string,
  endpointsOf: (port: PortIdentity) => readonly Endpoint[],
  {
    family,
    topology,
    nodeIP,
    externalIPsAllowed,
    ejectUnresponsiveEndpoints,
    everyEndpoint,
  }: ForwardingContext,
  { ejected, weights }: ConnectionFindings,
): ForwardingEntry {
  const externalIPs = textsOf(service.externalIPs, family);
  const loadBalancerIPs = textsOf(service.loadBalancerIPs, family);
  // The stored list counts, even if the feature gate prevents programming it (docs/internals/spec/model.md §2.2).
  const reachableFromOutside = port.nodePort !== 0 || loadBalancerIPs.length > 0 || externalIPs.length > 0;
  const internalPolicyLocal = !everyEndpoint && service.internalPolicyLocal;
  const externalPolicyLocal = !everyEndpoint && service.externalPolicyLocal;
  const name = { namespace: service.namespace, name: service.name, port: port.name, protocol: port.protocol };
  const key = servicePortKey(name);
  const method = methodOf(service);
  const weighted = weighed(endpointsOf({ port: port.name, protocol: port.protocol }), service);
  const allEndpoints =
    method === 'least-connections' ? withEffectiveWeights(weighted, weights?.(key)) : weighted;
  // UDP has no answer of its own, so nothing follows from the lack of one.
  const wantsEjection =
    !everyEndpoint && (service.ejectUnresponsiveEndpoints ?? ejectUnresponsiveEndpoints ?? false);
  const ejects = port.protocol !== 'UDP' && wantsEjection;
  const endpoints = selectEndpoints(
    allEndpoints,
    {
      usesClusterEndpoints: !internalPolicyLocal || reachableFromOutside,
      usesLocalEndpoints: internalPolicyLocal || (externalPolicyLocal && reachableFromOutside),
    },
    topology,
    ejects ? ejected?.(key) : undefined,
  );
  const balancing = balancingOf(method, endpoints);
  const [internal, external] = [
    trafficOf(endpoints, internalPolicyLocal),
    trafficOf(endpoints, externalPolicyLocal),
  ];
  const frontends: Frontend[] = [frontend('cluster-ip', clusterIP, port.port, internal)];
  // An address has one kind, the first of cluster IP, load-balancer IP and external IP, so that source ranges hold.
  const others = new Set(loadBalancerIPs).add(clusterIP);
  for (const address of externalIPsAllowed ? externalIPs : NO_TEXTS)
    if (!others.has(address)) frontends.push(frontend('external-ip', address, port.port, external));
  for (const address of loadBalancerIPs)
    if (address !== clusterIP) frontends.push(frontend('load-balancer-ip', address, port.port, external));
  if (port.nodePort !== 0) frontends.push({ kind: 'node-port', port: port.nodePort, ...external });
  const sourceRanges = subset(service.sourceRanges, (range) => range.family === family);
  return {
    key,
    name,
    family,
    frontends,
    endpoints,
    flowEligibleEndpoints: subset(allEndpoints, ({ ready, serving }) => ready || serving),
    localEndpoints: subset(allEndpoints, ({ isLocal }) => isLocal),
    internalPolicyLocal,
    externalPolicyLocal,
    affinitySeconds: service.affinitySeconds,
    ...(service.scheduler !== undefined && { scheduler: service.scheduler }),
    ...(balancing && { balancing }),
    sourceRanges,
    sourceRangesCoverNode: sourceRanges.some((range) => cidrContains(range, nodeIP)),
    healthCheckNodePort: service.healthCheckNodePort,
    ...(service.healthCheckNodePort !== 0 && { localReadyIPs: localReadyIPs(allEndpoints) }),
    externallyReachable: reachableFromOutside,
    ...(service.createdAt !== undefined && { createdAt: service.createdAt }),
    ...(ejects && { ejectsUnresponsiveEndpoints: true }),
    knownEndpoints: allEndpoints.length,
  };
}

function methodOf({ scheduler, balancingMethod }: Service): BalancingMethod {
  return balancingMethod ?? (scheduler === undefined ? undefined : methodOfScheduler(scheduler)) ?? 'random';
}

function balancingOf(
  method: BalancingMethod,
  { cluster = [], local = [] }: EndpointSelection,
): Balancing | undefined {
  const isWeighted = isWeightedList(cluster) || isWeightedList(local);
  return method === 'random' && !isWeighted ? undefined : { method, isWeighted };
}

/** How many frontends the port has, in one family at most. */
export function frontendCount(
  { externalIPs, loadBalancerIPs }: Service,
  { nodePort }: ServicePortSpec,
): number {
  return 1 + externalIPs.length + loadBalancerIPs.length + (nodePort === 0 ? 0 : 1);
}

/** Written out: with a spread it takes half as much memory again. */
function frontend(
  kind: Frontend['kind'],
  address: string,
  port: number,
  { policy, outcome }: Pick<Frontend, 'policy' | 'outcome'>,
): Frontend {
  return { kind, address, port, policy, outcome };
}

function localReadyIPs(endpoints: readonly Endpoint[]): readonly string[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready && endpoint.isLocal);
  return [...new Set(ready.map(({ address }) => address))];
}

function trafficOf(
  { hasAny, local }: EndpointSelection,
  isLocal: boolean,
): Pick<Frontend, 'policy' | 'outcome'> {
  const policy = isLocal ? 'Local' : 'Cluster';
  if (!hasAny) return { policy, outcome: 'reject' };
  return { policy, outcome: isLocal && !local?.length ? 'drop' : 'forward' };
}

const NO_TEXTS: readonly string[] = [];

function textsOf(addresses: Service['externalIPs'], family: IpFamily): readonly string[] {
  if (addresses.length === 0) return NO_TEXTS;
  return [...new Set(addresses.filter((address) => address.family === family).map(({ text }) => text))];
}

/** The endpoints, with the weights that their Service gives them. */
export function weighed(
  endpoints: readonly Endpoint[],
  service: Pick<Service, 'weights'> | undefined,
): readonly Endpoint[] {
  const weights = service?.weights;
  if (!weights) return endpoints;
  return endpoints.map((endpoint) => {
    const weight = Object.hasOwn(weights, endpoint.address) ? weights[endpoint.address] : undefined;
    return weight === undefined || weight === endpoint.weight ? endpoint : { ...endpoint, weight };
  });
}
