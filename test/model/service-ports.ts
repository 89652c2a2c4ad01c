import { canonical, FAMILIES, familyOf, Networks, type Family } from './addresses.js';
import type { Cluster, Protocol, Service } from './objects.js';

export type FrontendKind = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

/** One address of a service port. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Missing for a node port. */
  readonly address?: string;
  readonly port: number;
}

/** One port of a Service in one family (docs/spec/model.md §2.2). */
export interface ServicePort {
  /** `namespace/name`. */
  readonly service: string;
  readonly portName: string;
  readonly protocol: Protocol;
  readonly family: Family;
  readonly frontends: readonly Frontend[];
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  /** Empty: everybody is admitted. */
  readonly sourceRanges: readonly string[];
  /** 0: none. */
  readonly affinitySeconds: number;
  /** 0: none. */
  readonly healthCheckNodePort: number;
}

const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** The ports of all Services that kube-proxy serves, in both families. */
export function servicePorts({ services }: Pick<Cluster, 'services'>): readonly ServicePort[] {
  return services.flatMap((service) => FAMILIES.flatMap((family) => portsOf(service, family)));
}

function portsOf(service: Service, family: Family): readonly ServicePort[] {
  const { metadata, spec } = service;
  const clusterIP = clusterIPOf(service, family);
  if (clusterIP === undefined || metadata.labels?.[PROXY_NAME_LABEL] !== undefined) return [];
  const externalPolicyLocal = spec.externalTrafficPolicy === 'Local' && isExternal(service);
  const sticky = spec.sessionAffinity === 'ClientIP';
  const external = [
    ...ofFamily(spec.externalIPs ?? [], family).map((address) => ({ kind: 'external-ip', address }) as const),
    ...balancerAddresses(service, family).map((address) => ({ kind: 'load-balancer-ip', address }) as const),
  ];
  return (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port, nodePort = 0 }): ServicePort => ({
    service: `${metadata.namespace ?? 'default'}/${metadata.name}`,
    portName: name,
    protocol,
    family,
    frontends: [
      { kind: 'cluster-ip', address: clusterIP, port },
      ...external.map((frontend) => ({ ...frontend, port })),
      ...(nodePort === 0 ? [] : [{ kind: 'node-port', port: nodePort } as const]),
    ],
    internalPolicyLocal: spec.internalTrafficPolicy === 'Local',
    externalPolicyLocal,
    sourceRanges: sourceRanges(spec.loadBalancerSourceRanges ?? [], family),
    affinitySeconds: sticky
      ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS)
      : 0,
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

/** One that admits everybody makes the others meaningless. */
function sourceRanges(texts: readonly string[], family: Family): readonly string[] {
  const ranges = new Networks(texts).of(family);
  return ranges.some((range) => range.trim().endsWith('/0')) ? [] : ranges;
}

/** Whether the service port can be reached from outside the cluster. */
export function isExternallyAccessible({ frontends }: ServicePort): boolean {
  return frontends.some(({ kind }) => kind !== 'cluster-ip');
}
