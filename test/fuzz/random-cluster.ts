import type { EndpointSlice, Metadata, Service, ServicePortSpec } from '../model/objects.js';

/** Numbers that follow from a seed. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 to just below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  one<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }

  /** Each of them with this probability, in their order. */
  some<Value>(values: readonly Value[], probability = 0.5): readonly Value[] {
    return values.filter(() => this.is(probability));
  }
}

type Families = readonly ('IPv4' | 'IPv6')[];
type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number];

const FAMILIES: readonly Families[] = [['IPv4'], ['IPv6'], ['IPv4', 'IPv6']];
const RANGES = [
  '198.18.0.0/16',
  '10.9.9.9/32',
  ' 203.0.113.0/25',
  '10.244.0.0/16',
  '198.51.100.0/24',
  '0.0.0.0/0',
  '2001:db8::/32',
];
const CONDITIONS = [
  {},
  { ready: true },
  { ready: true, serving: true, terminating: false },
  { ready: false },
  { ready: false, serving: false },
  { ready: false, serving: true, terminating: true },
  { ready: false, serving: false, terminating: true },
];
const ZONES = [[], ['zone-a'], ['zone-b'], ['zone-a', 'zone-b']];
const WEIGHT = 'kube-proxy-ts/weight';
const PROTOCOLS = ['TCP', 'TCP', 'TCP', 'TCP', 'UDP', 'UDP', 'UDP', 'SCTP'] as const;
const METHOD = 'kube-proxy-ts/load-balancing';
/** The pod client of the test bed, as an endpoint. */
const OWN_POD = 200;
/** Now and then a Service has so many endpoints. */
const MANY = 1_500;

/** A Service with everything that belongs to it. */
export interface RandomService {
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
}

/** A Service by its number, which decides about its addresses; a few of them are also those of others. */
export function randomService(random: Random, number: number): RandomService {
  const families = random.one(FAMILIES);
  const type = random.one(['ClusterIP', 'ClusterIP', 'NodePort', 'LoadBalancer']);
  const ports = randomPorts(random, number, type !== 'ClusterIP');
  const ofFamilies = (ipv4: string, ipv6: string): string[] =>
    families.map((family) => (family === 'IPv4' ? ipv4 : ipv6));
  const clusterIPs = clusterIPsOf(families, number);
  const isLocal = type !== 'ClusterIP' && random.is(0.5);
  // Of the own number, or of one of a few that are shared.
  const place = (): number => (random.is(0.6) ? number : 1 + random.below(3));
  const externalIPs = random.is(0.35) ? externalIPsOf(random, families, place()) : undefined;
  const ingress = place();
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: randomMetadata(random, number),
    spec: {
      type,
      clusterIP: clusterIPs[0]!,
      clusterIPs,
      ipFamilies: [...families],
      ipFamilyPolicy: families.length === 2 ? 'PreferDualStack' : 'SingleStack',
      ports,
      ...(externalIPs && { externalIPs }),
      ...(random.is(0.3) && { internalTrafficPolicy: 'Local' }),
      ...(isLocal && { externalTrafficPolicy: 'Local' }),
      ...(isLocal && type === 'LoadBalancer' && { healthCheckNodePort: 32_000 + number }),
      ...(type === 'LoadBalancer' &&
        random.is(0.5) && { loadBalancerSourceRanges: random.some(RANGES, 0.3) }),
      ...(random.is(0.25) && {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: random.one([60, 600, 10_800]) } },
      }),
    },
    status: {
      loadBalancer: {
        ...(type === 'LoadBalancer' && {
          ingress: ofFamilies(`203.0.113.${100 + ingress}`, `2001:db8:98::${ingress}`).map((ip) => ({
            ip,
            ...(random.is(0.2) && { ipMode: random.one(['VIP', 'Proxy']) }),
          })),
        }),
      },
    },
  } satisfies Service & { apiVersion: string; kind: string };
  return { service, slices: randomSlices(random, number, families, ports) };
}

function clusterIPsOf(families: Families, number: number): string[] {
  return families.map((family) => (family === 'IPv4' ? `172.30.20.${number}` : `fd00:10:96::20:${number}`));
}

/** Sometimes the cluster IPs of another Service, or the addresses of a load balancer. */
function externalIPsOf(random: Random, families: Families, place: number): string[] {
  const kind = random.below(6);
  if (kind === 0) return clusterIPsOf(families, 1 + place);
  const [ipv4, ipv6] =
    kind === 1
      ? [`203.0.113.${100 + place}`, `2001:db8:98::${place}`]
      : [`192.0.2.${place}`, `2001:db8:99::${place}`];
  return families.map((family) => (family === 'IPv4' ? ipv4! : ipv6!));
}

function randomMetadata(random: Random, number: number): Metadata {
  const weights = Object.fromEntries(
    [2, 3, 4].map((host) => [`10.244.${random.one([1, 2])}.${host}`, random.one([0, 1, 4])]),
  );
  const annotations = {
    ...(random.is(0.2) && { [WEIGHT]: JSON.stringify(weights) }),
    ...(random.is(0.03) && { [WEIGHT]: random.one(['7', '{"10.244.1.2": -1}', '{"pod": 2}']) }),
    ...(random.is(0.2) && {
      [METHOD]: random.one(['random', 'round-robin', 'least-connections', 'maglev', 'maglev-source', 'best']),
    }),
  };
  return {
    name: `s${number}`,
    namespace: 'default',
    annotations,
    ...(random.is(0.5) && { creationTimestamp: `2026-01-0${1 + random.below(9)}T00:00:00Z` }),
    ...(random.is(0.05) && { labels: { 'service.kubernetes.io/service-proxy-name': 'other' } }),
  };
}

function randomPorts(random: Random, number: number, hasNodePorts: boolean): readonly ServicePortSpec[] {
  const count = random.one([1, 1, 2, 3]);
  const isNamed = count > 1 || random.is(0.5);
  // The same number for two protocols, as DNS has it.
  const isShared = count > 1 && random.is(0.3);
  return Array.from({ length: count }, (_, index) => ({
    ...(isNamed && { name: `p${index}` }),
    protocol: isShared && index < 2 ? (['TCP', 'UDP'] as const)[index]! : random.one(PROTOCOLS),
    port: 80 + (isShared && index === 1 ? 0 : index),
    ...(hasNodePorts && { nodePort: 30_000 + (random.is(0.95) ? number : 1) * 10 + index }),
  }));
}

/** Endpoints of the Service in several slices of each family; some on this node, some with hints. */
export function randomSlices(
  random: Random,
  number: number,
  families: Families,
  ports: readonly ServicePortSpec[],
): readonly EndpointSlice[] {
  const hints = { zones: random.is(0.3), nodes: random.is(0.1) };
  const count = (): number => (random.is(0.01) ? MANY : random.below(4));
  return families.flatMap((family) =>
    Array.from({ length: random.one([0, 1, 1, 2]) }, (_, index) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `s${number}-${family.toLowerCase()}-${index}`,
        namespace: 'default',
        labels: {
          'kubernetes.io/service-name': `s${number}`,
          ...(random.is(0.03) && { 'service.kubernetes.io/headless': '' }),
        },
        ...(random.is(0.1) && { annotations: { [WEIGHT]: random.one(['0', '1', '5', 'heavy']) } }),
      },
      addressType: family,
      ports: random.some(ports, 0.9).map(({ name = '', protocol = 'TCP' }, port) => ({
        name,
        protocol,
        port: 8080 + port + (random.is(0.1) ? 100 : 0),
      })),
      endpoints: distinct(Array.from({ length: count() }, () => randomEndpoint(random, family, hints))),
    })),
  );
}

function randomEndpoint(
  random: Random,
  family: 'IPv4' | 'IPv6',
  hints: { readonly zones: boolean; readonly nodes: boolean },
): SliceEndpoint {
  const isLocal = random.is(0.4);
  const host = random.is(0.05) && isLocal ? OWN_POD : 2 + random.below(8);
  const network = isLocal ? 1 : 2 + (random.is(0.5) ? 0 : random.below(200));
  const address = family === 'IPv4' ? `10.244.${network}.${host}` : `fd00:10:244:${network}::${host}`;
  return {
    addresses: [address],
    conditions: random.one(CONDITIONS),
    nodeName: isLocal ? 'node1' : 'node2',
    hints: {
      ...((hints.zones || random.is(0.1)) && { forZones: random.one(ZONES).map((name) => ({ name })) }),
      ...((hints.nodes || random.is(0.05)) && { forNodes: [{ name: random.one(['node1', 'node2']) }] }),
    },
  };
}

/** An address is in a slice once. */
function distinct(endpoints: readonly SliceEndpoint[]): readonly SliceEndpoint[] {
  return [...new Map(endpoints.map((one) => [one.addresses[0], one])).values()];
}

const FIELDS: readonly (readonly (keyof Service['spec'])[])[] = [
  ['loadBalancerSourceRanges'],
  ['sessionAffinity', 'sessionAffinityConfig'],
  ['internalTrafficPolicy'],
  ['externalTrafficPolicy', 'healthCheckNodePort'],
  ['externalIPs'],
];

/** The Service with another value of one of its fields. */
export function withOtherField(
  random: Random,
  { service, slices }: RandomService,
  number: number,
): RandomService {
  const fields = random.one(FIELDS);
  for (;;) {
    const { spec } = randomService(random, number).service;
    if (spec.type !== service.spec.type || spec.ipFamilyPolicy !== service.spec.ipFamilyPolicy) continue;
    if (spec.ipFamilies![0] !== service.spec.ipFamilies![0]) continue;
    const changed = { ...service.spec, ...Object.fromEntries(fields.map((field) => [field, spec[field]])) };
    return { service: { ...service, spec: changed }, slices };
  }
}
