import type { EndpointSlice, Service, ServicePortSpec } from '../model/objects.js';

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

const FAMILIES = [['IPv4'], ['IPv6'], ['IPv4', 'IPv6']] as const;
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

const SERVICE = { apiVersion: 'v1', kind: 'Service' };

/** A Service with everything that belongs to it. */
export interface RandomService {
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
}

/** A Service by its number, which decides about its addresses, so that no two Services have the same. */
export function randomService(random: Random, number: number): RandomService {
  const families = random.one(FAMILIES);
  const has = (family: 'IPv4' | 'IPv6'): boolean => (families as readonly string[]).includes(family);
  const type = random.one(['ClusterIP', 'ClusterIP', 'NodePort', 'LoadBalancer']);
  const ports = randomPorts(random, number, type !== 'ClusterIP');
  const ofFamilies = (ipv4: string, ipv6: string): string[] => [
    ...(has('IPv4') ? [ipv4] : []),
    ...(has('IPv6') ? [ipv6] : []),
  ];
  const clusterIPs = ofFamilies(`172.30.20.${number}`, `fd00:10:96::20:${number}`);
  const metadata = { name: `s${number}`, namespace: 'default' };
  const service: Service & typeof SERVICE = {
    ...SERVICE,
    metadata,
    spec: {
      type,
      clusterIP: clusterIPs[0]!,
      clusterIPs,
      ipFamilies: [...families],
      ipFamilyPolicy: families.length === 2 ? 'PreferDualStack' : 'SingleStack',
      ports,
      ...(random.is(0.3) && { externalIPs: ofFamilies(`192.0.2.${number}`, `2001:db8:99::${number}`) }),
      ...(random.is(0.3) && { internalTrafficPolicy: 'Local' }),
      ...(type !== 'ClusterIP' && random.is(0.5) && { externalTrafficPolicy: 'Local' }),
      ...(type === 'LoadBalancer' &&
        random.is(0.5) && { loadBalancerSourceRanges: random.some(RANGES, 0.3) }),
      ...(random.is(0.25) && {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: random.one([60, 10_800]) } },
      }),
    },
    status: {
      loadBalancer: {
        ...(type === 'LoadBalancer' && {
          ingress: ofFamilies(`203.0.113.${100 + number}`, `2001:db8:98::${number}`).map((ip) => ({
            ip,
            ...(random.is(0.2) && { ipMode: random.one(['VIP', 'Proxy']) }),
          })),
        }),
      },
    },
  };
  return { service, slices: randomSlices(random, number, families, ports) };
}

function randomPorts(random: Random, number: number, hasNodePorts: boolean): readonly ServicePortSpec[] {
  const count = random.one([1, 1, 2, 3]);
  const isNamed = count > 1 || random.is(0.5);
  return Array.from({ length: count }, (_, index) => ({
    ...(isNamed && { name: `p${index}` }),
    protocol: random.one(['TCP', 'TCP', 'UDP']),
    port: 80 + index,
    ...(hasNodePorts && { nodePort: 30_000 + number * 10 + index }),
  }));
}

/** Endpoints of the Service in several slices of each family; some on this node, some with hints. */
export function randomSlices(
  random: Random,
  number: number,
  families: readonly ('IPv4' | 'IPv6')[],
  ports: readonly ServicePortSpec[],
): readonly EndpointSlice[] {
  const hintsAll = random.is(0.3);
  return families.flatMap((family) =>
    Array.from({ length: random.one([0, 1, 1, 2]) }, (_, index) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `s${number}-${family.toLowerCase()}-${index}`,
        namespace: 'default',
        labels: { 'kubernetes.io/service-name': `s${number}` },
      },
      addressType: family,
      ports: random
        .some(ports, 0.9)
        .map(({ name = '', protocol = 'TCP' }, port) => ({ name, protocol, port: 8080 + port })),
      endpoints: Array.from({ length: random.below(4) }, () => {
        const isLocal = random.is(0.4);
        const host = 2 + random.below(8);
        const prefix = family === 'IPv4' ? `10.244.${isLocal ? 1 : 2}.` : `fd00:10:244:${isLocal ? 1 : 2}::`;
        return {
          addresses: [`${prefix}${host}`],
          conditions: random.one(CONDITIONS),
          nodeName: isLocal ? 'node1' : 'node2',
          ...(hintsAll || random.is(0.2)
            ? { hints: { forZones: random.one(ZONES).map((name) => ({ name })) } }
            : {}),
        };
      }),
    })),
  );
}
