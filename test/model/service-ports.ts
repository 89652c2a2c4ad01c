import { canonical, FAMILIES, familyOf, Networks, type Family } from './addresses.js';
import type { Cluster, Metadata, Protocol, Service } from './objects.js';

export type FrontendKind = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

/** One address of a service port. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Missing for a node port. */
  readonly address?: string;
  readonly port: number;
}

/** One port of a Service in one family (docs/internals/spec/model.md §2.2). */
export interface ServicePort {
  /** `namespace/name`. */
  readonly service: string;
  /** In milliseconds; infinite: not known, as in a manifest. */
  readonly createdAt: number;
  /** By the address of the endpoint (docs/configuration/load-balancing.md); missing: what its slice says. */
  readonly weights: ReadonlyMap<string, number>;
  readonly portName: string;
  readonly protocol: Protocol;
  readonly family: Family;
  readonly frontends: readonly Frontend[];
  /** It has an external address, even one that is its cluster IP, too, or a node port. */
  readonly isExternallyAccessible: boolean;
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  /** Empty: everybody is admitted. */
  readonly sourceRanges: readonly string[];
  /** 0: none. */
  readonly affinitySeconds: number;
  /** The endpoint follows from the client's address (docs/configuration/load-balancing.md). */
  readonly hashesSource?: boolean;
  /** 0: none. */
  readonly healthCheckNodePort: number;
}

const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** The ports of all Services that kube-proxy serves, in both families. */
export function servicePorts({ services }: Pick<Cluster, 'services'>): readonly ServicePort[] {
  return services.flatMap((service) => FAMILIES.flatMap((family) => portsOf(service, family)));
}

/** `namespace/name`. */
export function serviceName({ namespace = 'default', name }: Metadata): string {
  return `${namespace}/${name}`;
}

function portsOf(service: Service, family: Family): readonly ServicePort[] {
  const { metadata, spec } = service;
  const clusterIP = clusterIPOf(service, family);
  if (clusterIP === undefined || metadata.labels?.[PROXY_NAME_LABEL] !== undefined) return [];
  const externalPolicyLocal = spec.externalTrafficPolicy === 'Local' && isExternal(service);
  const sticky = spec.sessionAffinity === 'ClientIP';
  // An address of a Service is what it is first, in this order.
  const external = new Map<string, FrontendKind>([[clusterIP, 'cluster-ip']]);
  const addAll = (kind: FrontendKind, addresses: readonly string[]): void => {
    for (const address of addresses)
      if (isAssignable(address) && !external.has(address)) external.set(address, kind);
  };
  const balancers = balancerAddresses(service, family);
  const externalIPs = ofFamily(spec.externalIPs ?? [], family);
  addAll('load-balancer-ip', balancers);
  addAll('external-ip', externalIPs);
  const hasExternalAddress = [...balancers, ...externalIPs].some(isAssignable);
  return (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port, nodePort = 0 }): ServicePort => ({
    service: serviceName(metadata),
    createdAt: Date.parse(metadata.creationTimestamp ?? '') || Infinity,
    weights: serviceWeights(metadata),
    portName: name,
    protocol,
    family,
    frontends: [
      ...[...external].map(([address, kind]) => ({ kind, address, port })),
      ...(nodePort === 0 ? [] : [{ kind: 'node-port', port: nodePort } as const]),
    ],
    isExternallyAccessible: hasExternalAddress || nodePort !== 0,
    internalPolicyLocal: spec.internalTrafficPolicy === 'Local',
    externalPolicyLocal,
    sourceRanges: new Networks(spec.loadBalancerSourceRanges ?? []).of(family),
    affinitySeconds: sticky
      ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS)
      : 0,
    hashesSource: metadata.annotations?.[METHOD_ANNOTATION] === 'maglev-source',
    healthCheckNodePort:
      spec.type === 'LoadBalancer' && externalPolicyLocal ? (spec.healthCheckNodePort ?? 0) : 0,
  }));
}

function clusterIPOf({ spec }: Service, family: Family): string | undefined {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [] } = spec;
  if (clusterIP === '' || clusterIP === 'None' || spec.type === 'ExternalName') return undefined;
  const text = ipFamilies.length === 0 ? clusterIP : clusterIPs[ipFamilies.indexOf(family)];
  return text !== undefined && familyOf(text) === family ? canonical(text) : undefined;
}

function isExternal({ spec }: Service): boolean {
  const { type = 'ClusterIP', externalIPs = [] } = spec;
  return type === 'LoadBalancer' || type === 'NodePort' || externalIPs.length > 0;
}

function balancerAddresses({ status }: Service, family: Family): readonly string[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const addresses = ingress.flatMap(({ ip = '', ipMode = 'VIP' }) => (ipMode === 'VIP' ? ip : []));
  return ofFamily(addresses, family);
}

function ofFamily(texts: readonly string[], family: Family): readonly string[] {
  return texts.filter((text) => familyOf(text) === family).flatMap((text) => canonical(text) ?? []);
}

/** Whether an address can be one of a Service, or of an endpoint (docs/behavior/differences.md). */
export function isAssignable(address: string): boolean {
  return !SPECIAL.has(address);
}

const SPECIAL = new Networks([
  ...['0.0.0.0/32', '127.0.0.0/8', '224.0.0.0/4', '255.255.255.255/32'],
  ...['::/128', '::1/128', 'ff00::/8'],
]);

/** Whole numbers from 0 to 1000; anything else is ignored. */
export function weightOf(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1000 ? Number(value) : undefined;
}

export const METHOD_ANNOTATION = 'kube-proxy-ts/load-balancing';
export const METHODS: readonly (string | undefined)[] = [
  'random',
  'round-robin',
  'least-connections',
  'maglev',
  'maglev-source',
];
export const WEIGHT_ANNOTATION = 'kube-proxy-ts/weight';

function serviceWeights({ annotations = {} }: Metadata): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const [address, value] of Object.entries(parsedObject(annotations[WEIGHT_ANNOTATION]))) {
    const weight = weightOf(value);
    if (weight !== undefined) weights.set(canonical(address) ?? '', weight);
  }
  return weights;
}

function parsedObject(json = '{}'): object {
  try {
    return Object(JSON.parse(json)) as object;
  } catch {
    return {};
  }
}
