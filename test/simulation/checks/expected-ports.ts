import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ApiObject } from '../../support/api-server/object-store.js';

const METHOD = 'kube-proxy-ts/load-balancing';
const WEIGHTS = 'kube-proxy-ts/weight';

export type FrontendKind = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

export interface ExpectedFrontend {
  readonly kind: FrontendKind;
  /** Missing for node ports: any address of the node on which they are served. */
  readonly address?: string;
  readonly port: number;
  readonly protocol: Protocol;
}

export interface ExpectedEndpoint {
  readonly address: string;
  readonly port: number;
  readonly isLocal: boolean;
  /** As compared with others of its list. */
  readonly weight: number;
}

/** What docs/spec/model.md asks for one port of a Service in one family, worked out from the objects alone. */
export interface ExpectedPort {
  /** As the program names it: `shop/cart:http`, with its protocol. */
  readonly key: string;
  readonly family: IpFamily;
  readonly frontends: readonly ExpectedFrontend[];
  readonly cluster: readonly ExpectedEndpoint[];
  readonly local: readonly ExpectedEndpoint[];
  /** Of those of the lists that would be chosen from, those of weight 0, where others have more. */
  readonly weightless: Readonly<Record<'cluster' | 'local', readonly ExpectedEndpoint[]>>;
  /** How endpoints are chosen, as the Service asks for; `random` unless it does. */
  readonly method: string;
  /** All, in any condition. */
  readonly known: readonly ExpectedEndpoint[];
  /** Those that may keep their connections: ready, or not yet done with what they have. */
  readonly serving: readonly ExpectedEndpoint[];
  /** Some endpoint serves it somewhere. */
  readonly hasAny: boolean;
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  readonly sourceRanges: readonly string[];
  /** Seconds; 0 without affinity. */
  readonly affinity: number;
  /** 0: none. */
  readonly healthCheckNodePort: number;
  /** The address of the node at which node ports are served, whatever else it has. */
  readonly nodeAddress: string;
  /** Clients in it are local pods. */
  readonly localNetwork: string;
}

/** Without external traffic, internalTrafficPolicy Local leaves only the endpoints of this node (docs/spec/ipvs.md §4.5). */
export function usesCluster({ internalPolicyLocal, frontends }: ExpectedPort): boolean {
  return !internalPolicyLocal || frontends.some(({ kind }) => kind !== 'cluster-ip');
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly protocol?: Protocol;
    readonly port: number;
    readonly nodePort?: number;
  }[];
  readonly externalIPs?: readonly string[];
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly internalTrafficPolicy?: string;
  readonly externalTrafficPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
}

interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly nodeName?: string;
  readonly conditions?: {
    readonly ready?: boolean;
    readonly serving?: boolean;
    readonly terminating?: boolean;
  };
  readonly hints?: { readonly forZones?: readonly { readonly name: string }[] };
}

/** This node, as endpoints and hints name it. */
export interface ExpectedNode {
  readonly name: string;
  readonly zone: string;
  /** That its Node object has first, of each family. */
  readonly addresses: Readonly<Record<IpFamily, string>>;
  /** Whose traffic is that of local pods (docs/spec/model.md §7): of each family. */
  readonly localNetworks: Readonly<Record<IpFamily, string>>;
}

const familyOf = (address: string): IpFamily => (address.includes(':') ? 'IPv6' : 'IPv4');

/** What is asked for all ports of a Service. */
export function expectedPorts(
  service: ApiObject | undefined,
  slices: readonly ApiObject[],
  node: ExpectedNode,
  families: readonly IpFamily[],
): readonly ExpectedPort[] {
  if (!service || isIgnored(service)) return [];
  return families.flatMap((family) => portsOf(service, slices, node, family));
}

function isIgnored({ metadata, spec }: ApiObject): boolean {
  const { type, clusterIP } = spec as ServiceSpec;
  return (
    metadata.labels?.['service.kubernetes.io/service-proxy-name'] !== undefined ||
    type === 'ExternalName' ||
    !clusterIP ||
    clusterIP === 'None'
  );
}

function portsOf(
  { metadata, spec, status }: ApiObject,
  slices: readonly ApiObject[],
  node: ExpectedNode,
  family: IpFamily,
): readonly ExpectedPort[] {
  const asked = spec as ServiceSpec;
  const annotations = (metadata.annotations ?? {}) as Readonly<Record<string, string>>;
  const weights = JSON.parse(annotations[WEIGHTS] ?? '{}') as Readonly<Record<string, number>>;
  const ofFamily = (addresses: readonly string[] = []) =>
    addresses.filter((address) => familyOf(address) === family);
  const [clusterIP] = ofFamily(asked.clusterIPs ?? [asked.clusterIP!]);
  if (clusterIP === undefined) return [];
  const externalIPs = ofFamily(asked.externalIPs);
  const balancers = ofFamily(
    (
      (status as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined)?.loadBalancer?.ingress ?? []
    ).flatMap(({ ip }) => ip ?? []),
  );
  const isExternal =
    asked.type === 'LoadBalancer' || asked.type === 'NodePort' || (asked.externalIPs ?? []).length > 0;
  return (asked.ports ?? []).map(({ name = '', protocol = 'TCP', port, nodePort = 0 }) => {
    const at = (kind: FrontendKind) => (address: string) => ({ kind, address, port, protocol });
    const frontends: ExpectedFrontend[] = [
      at('cluster-ip')(clusterIP),
      ...externalIPs.map(at('external-ip')),
      ...balancers.map(at('load-balancer-ip')),
      ...(nodePort > 0 ? [{ kind: 'node-port' as const, port: nodePort, protocol }] : []),
    ];
    const all = endpointsOf(slices, name, protocol, family, node, weights);
    const { cluster, local, hasAny, weightless } = selected(all, node);
    return {
      key: `${metadata.namespace}/${metadata.name}${name === '' ? '' : `:${name}`}/${protocol}`,
      family,
      frontends,
      cluster,
      local,
      weightless,
      method: annotations[METHOD] ?? 'random',
      known: all,
      serving: all.filter(({ isReady, serves }) => isReady || serves),
      hasAny,
      internalPolicyLocal: asked.internalTrafficPolicy === 'Local',
      externalPolicyLocal: isExternal && asked.externalTrafficPolicy === 'Local',
      sourceRanges: ofFamily(asked.loadBalancerSourceRanges),
      affinity:
        asked.sessionAffinity === 'ClientIP'
          ? (asked.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800)
          : 0,
      healthCheckNodePort: asked.healthCheckNodePort ?? 0,
      nodeAddress: node.addresses[family],
      localNetwork: node.localNetworks[family],
    };
  });
}

interface JudgedEndpoint extends ExpectedEndpoint {
  readonly isReady: boolean;
  readonly serves: boolean;
  readonly isTerminating: boolean;
  readonly zones: readonly string[];
}

function endpointsOf(
  slices: readonly ApiObject[],
  portName: string,
  protocol: string,
  family: IpFamily,
  node: ExpectedNode,
  weights: Readonly<Record<string, number>>,
): readonly JudgedEndpoint[] {
  const found = new Map<string, JudgedEndpoint>();
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    const ports = slice.ports as readonly { name?: string; protocol?: string; port: number }[];
    for (const { name = '', protocol: spoken = 'TCP', port } of ports) {
      if (name !== portName || spoken !== protocol) continue;
      for (const {
        addresses,
        nodeName,
        conditions = {},
        hints,
      } of slice.endpoints as readonly SliceEndpoint[]) {
        const address = addresses[0]!;
        const { ready = true, serving = true, terminating = false } = conditions;
        const place = `${address} ${port}`;
        if (found.has(place) && terminating) continue;
        found.set(place, {
          address,
          port,
          isLocal: nodeName === node.name,
          weight: weights[address] ?? 1,
          isReady: ready,
          serves: serving,
          isTerminating: terminating,
          zones: hints?.forZones?.map(({ name: zone }) => zone) ?? [],
        });
      }
    }
  }
  return [...found.values()];
}

function selected(all: readonly JudgedEndpoint[], node: ExpectedNode) {
  const ready = all.filter(({ isReady }) => isReady);
  const draining = all.filter(({ isReady, serves, isTerminating }) => !isReady && serves && isTerminating);
  const byZone =
    ready.length > 0 &&
    ready.every(({ zones }) => zones.length > 0) &&
    ready.some(({ zones }) => zones.includes(node.zone));
  const cluster =
    ready.length > 0 ? ready.filter(({ zones }) => !byZone || zones.includes(node.zone)) : draining;
  const here = (endpoints: readonly JudgedEndpoint[]) => endpoints.filter(({ isLocal }) => isLocal);
  const local = here(ready).length > 0 ? here(ready) : here(draining);
  const hasAny = ready.length > 0 || draining.length > 0;
  const lists = { cluster: byWeight(cluster), local: byWeight(local) };
  return {
    cluster: lists.cluster.chosen,
    local: lists.local.chosen,
    weightless: { cluster: lists.cluster.weightless, local: lists.local.weightless },
    hasAny,
  };
}

/** Where all have weight 0, all count alike (docs/load-balancing.md). */
function byWeight(list: readonly JudgedEndpoint[]) {
  const chosen = list.filter(({ weight }) => weight > 0);
  if (chosen.length === 0) return { chosen: list.map((one) => ({ ...one, weight: 1 })), weightless: [] };
  return { chosen, weightless: list.filter(({ weight }) => weight === 0) };
}
