import { parsedObjects } from '../recorded/parsed-objects.js';

/** The little of a Kubernetes object that says where to send packets; test fixtures only, nothing is validated. */
interface KubernetesObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
  };
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly externalIPs?: readonly string[];
    readonly sessionAffinity?: string;
    readonly ports?: readonly {
      readonly name?: string;
      readonly protocol: string;
      readonly port: number;
      readonly nodePort?: number;
    }[];
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
  readonly endpoints?: readonly unknown[];
}

/** One address to send packets to, from every client. */
export interface Target {
  readonly label: string;
  readonly dst: string;
  readonly proto: TargetProtocol;
  readonly port: number;
  /** How many connections it takes to see every endpoint. */
  readonly n: number;
  /** The service has session affinity. */
  readonly sticky: boolean;
}

export type Family = 'ipv4' | 'ipv6';

export type TargetProtocol = 'tcp' | 'udp' | 'sctp';

/** Clients of the test bed need preparation for SCTP (sctp.ts). */
const USUAL: readonly TargetProtocol[] = ['tcp', 'udp'];

const nodeAddresses: Record<Family, readonly string[]> = {
  ipv4: ['198.51.100.11', '10.244.1.1', '127.0.0.1'],
  ipv6: ['2001:db8:2::11'],
};

/** Every address of every service of the objects, and, in IPv4, a cluster IP nobody has and a port no service has. */
export function planOf(objectsYaml: string, family: Family, protocols = USUAL): Target[] {
  const objects = parsedObjects<KubernetesObject>(objectsYaml);
  const services = objects.filter(
    ({ kind, spec, metadata }) =>
      kind === 'Service' && spec?.type !== 'ExternalName' && metadata.name !== 'kubernetes',
  );
  const endpointCounts = countEndpoints(objects);
  const plan = services.flatMap((service) => targetsOf(service, endpointCounts, family, protocols));
  return family === 'ipv4' ? [...plan, ...unusedTargets(objects)] : plan;
}

function countEndpoints(objects: readonly KubernetesObject[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, metadata, endpoints } of objects) {
    if (kind !== 'EndpointSlice') continue;
    const service = `${metadata.namespace}/${metadata.labels?.['kubernetes.io/service-name']}`;
    counts.set(service, (counts.get(service) ?? 0) + (endpoints?.length ?? 0));
  }
  return counts;
}

function targetsOf(
  service: KubernetesObject,
  endpointCounts: Map<string, number>,
  family: Family,
  protocols: readonly TargetProtocol[],
): Target[] {
  const { spec, status, metadata } = service;
  const name = `${metadata.namespace}/${metadata.name}`;
  const sticky = spec?.sessionAffinity === 'ClientIP';
  const n = sticky ? 16 : Math.max(16, 12 * (endpointCounts.get(name) ?? 1));
  const addresses = [
    ...(spec?.clusterIPs ?? []).filter((ip) => ip !== 'None').map((ip) => ['cluster', ip] as const),
    ...(spec?.externalIPs ?? []).map((ip) => ['external', ip] as const),
    ...(status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [['lb', ip] as const] : [])),
  ].filter(([, ip]) => ip.includes(':') === (family === 'ipv6'));
  return (spec?.ports ?? []).flatMap((port) => {
    const proto = port.protocol.toLowerCase() as TargetProtocol;
    if (!protocols.includes(proto)) return [];
    const frontends = [
      ...addresses.map(([kind, dst]) => ({ kind, dst, port: port.port })),
      ...(port.nodePort
        ? nodeAddresses[family].map((dst) => ({ kind: 'nodeport', dst, port: port.nodePort! }))
        : []),
    ];
    return frontends.map((frontend) => ({
      label: `${name}:${port.name ?? ''}/${proto} ${frontend.kind} ${frontend.dst}:${frontend.port}`,
      dst: frontend.dst,
      proto,
      port: frontend.port,
      n,
      sticky,
    }));
  });
}

function unusedTargets(objects: readonly KubernetesObject[]): Target[] {
  const used = objects.find(
    ({ kind, metadata, spec }) =>
      kind === 'Service' &&
      metadata.name !== 'kubernetes' &&
      spec?.clusterIP !== undefined &&
      spec.clusterIP !== 'None' &&
      !spec.clusterIP.includes(':'),
  )?.spec?.clusterIP;
  const unused = { proto: 'tcp', n: 4, sticky: false } as const;
  return [
    { ...unused, label: 'unused-cluster-ip 172.30.77.77:80', dst: '172.30.77.77', port: 80 },
    ...(used === undefined ? [] : [{ ...unused, label: `unused-port ${used}:4444`, dst: used, port: 4444 }]),
  ];
}
