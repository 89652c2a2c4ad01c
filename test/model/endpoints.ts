import { canonical, familyOf, Networks, place } from './addresses.js';
import type { EndpointSlice, Node } from './objects.js';
import { isAssignable, weightOf, WEIGHT_ANNOTATION, type ServicePort } from './service-ports.js';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly local: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
  /** How many new connections it gets, compared with the others. */
  readonly weight: number;
}

const LINK_LOCAL = new Networks(['169.254.0.0/16', 'fe80::/10']);
const SERVICE_LABEL = 'kubernetes.io/service-name';
const HEADLESS_LABEL = 'service.kubernetes.io/headless';

/** All endpoints of a service port, each once (docs/internals/spec/model.md §3.3). */
export function endpointsOf(
  { service, portName, protocol, family, weights }: ServicePort,
  slices: readonly EndpointSlice[],
  node: Node,
): readonly Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const { metadata, addressType, ports = [], endpoints = [] } of slices) {
    const { namespace = 'default', labels = {}, annotations = {} } = metadata;
    if (addressType !== family || labels[HEADLESS_LABEL] !== undefined) continue;
    if (`${namespace}/${labels[SERVICE_LABEL]}` !== service) continue;
    const sliceWeight = weightOf(Number(annotations[WEIGHT_ANNOTATION] ?? 1)) ?? 1;
    for (const { name, port, protocol: its } of ports) {
      if (name !== portName || (its ?? 'TCP') !== protocol || !port) continue;
      for (const { addresses, conditions = {}, nodeName, hints = {} } of endpoints) {
        const address = canonical(addresses[0] ?? '');
        if (address === undefined || familyOf(address) !== family || !canBeEndpoint(address)) continue;
        const endpoint = {
          address,
          port,
          local: node.name !== '' && nodeName === node.name,
          ready: conditions.ready ?? true,
          serving: conditions.serving ?? true,
          terminating: conditions.terminating ?? false,
          zones: (hints.forZones ?? []).map((zone) => zone.name),
          nodes: (hints.forNodes ?? []).map((one) => one.name),
          weight: weights.get(address) ?? sliceWeight,
        };
        const key = place(endpoint);
        if (!found.has(key) || !endpoint.terminating) found.set(key, endpoint);
      }
    }
  }
  return [...found.values()];
}

/** Loopback, unspecified, multicast and link-local addresses cannot (docs/behavior/differences.md). */
function canBeEndpoint(address: string): boolean {
  return isAssignable(address) && !LINK_LOCAL.has(address);
}

/** The endpoints that clients of a service port may get (docs/internals/spec/model.md §4). */
export interface Selection {
  /** With policy Cluster. */
  readonly cluster: readonly Endpoint[];
  /** With policy Local. */
  readonly local: readonly Endpoint[];
  /** An endpoint can be used, here or elsewhere. */
  readonly hasAny: boolean;
}

export function select(port: ServicePort, endpoints: readonly Endpoint[], node: Node): Selection {
  const isExternal = port.isExternallyAccessible;
  const usesCluster = !port.internalPolicyLocal || isExternal;
  const usesLocal = port.internalPolicyLocal || (port.externalPolicyLocal && isExternal);
  const cluster = usesCluster ? clusterList(endpoints, node) : [];
  const local = usesLocal ? readyElseDraining(endpoints.filter((one) => one.local)) : [];
  const isUsed = cluster.length > 0 || local.length > 0 || !usesCluster;
  return { cluster, local, hasAny: isUsed && endpoints.some((one) => one.ready || isDraining(one)) };
}

function clusterList(endpoints: readonly Endpoint[], { name, zone }: Node): readonly Endpoint[] {
  const ready = endpoints.filter((one) => one.ready);
  if (ready.length === 0) return endpoints.filter(isDraining);
  const hinted = (of: (one: Endpoint) => readonly string[], here: string): readonly Endpoint[] => {
    const near = ready.filter((one) => of(one).includes(here));
    return here !== '' && ready.every((one) => of(one).length > 0) ? near : [];
  };
  const sameNode = hinted((one) => one.nodes, name);
  if (sameNode.length > 0) return sameNode;
  const sameZone = hinted((one) => one.zones, zone);
  return sameZone.length > 0 ? sameZone : ready;
}

/** All that are ready; those that finish what they have, if none is. */
export function readyElseDraining(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ready = endpoints.filter((one) => one.ready);
  return ready.length > 0 ? ready : endpoints.filter(isDraining);
}

function isDraining({ serving, terminating }: Endpoint): boolean {
  return serving && terminating;
}
