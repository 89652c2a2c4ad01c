import fc from 'fast-check';
import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import { USUAL_SETTINGS } from '../usual-settings.js';

/**
 * Random clusters of valid objects, drawn from few names, addresses and ports, so that services collide, lose their
 * endpoints and get them back.
 */

export const NODE = 'node1';
export const LOCAL_ADDRESSES = ['198.51.100.11', '10.244.1.1', '2001:db8:2::11', 'fd00:10:244:1::1'];

/** A usual node, where hints for nodes do not count. */
export const SETTINGS: NodeSettings = { ...USUAL_SETTINGS, nodeName: NODE, nodeHints: false };

export const POOL = {
  services: ['a', 'b', 'c', 'd', 'e'],
  slices: ['s1', 's2', 's3', 's4', 's5', 's6', 's7'],
  clusterIPs: {
    IPv4: ['172.30.0.1', '172.30.0.2', '172.30.0.3', '172.30.0.4'],
    IPv6: ['fd00:10:96::1', 'fd00:10:96::2', 'fd00:10:96::3', 'fd00:10:96::4'],
  },
  externalIPs: ['192.0.2.1', '192.0.2.2', '2001:db8:5::1', '2001:db8:5::2'],
  endpoints: {
    IPv4: ['10.244.1.5', '10.244.1.6', '10.244.2.7', '10.244.2.8', '10.244.3.9'],
    IPv6: ['fd00:10:244:1::5', 'fd00:10:244:1::6', 'fd00:10:244:2::7', 'fd00:10:244:2::8'],
  },
  ports: [80, 53],
  nodePorts: [30001, 30002, 30003],
  sources: {
    IPv4: ['203.0.113.5', '10.9.9.9', '198.18.0.50', '10.244.1.200'],
    IPv6: ['2001:db8:18::50', '2001:db8:99::1', 'fd00:10:244:1::200'],
  },
} as const;

const SOURCE_RANGES = [
  '203.0.113.0/24',
  '10.0.0.0/8',
  '198.51.100.0/24',
  '192.0.2.1/32',
  '2001:db8:18::/48',
  '::/0',
];

/** With these the load-balancer IPs themselves may come as sources. */
const NODE_RANGES = ['198.51.100.0/24', '2001:db8:2::/64'];

/** A step in the life of a cluster. */
export type Change =
  | { readonly change: 'apply'; readonly kind: ResourceKind; readonly object: ClusterObject }
  | {
      readonly change: 'delete';
      readonly kind: ResourceKind;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly change: 'sync' };

export interface ClusterObject {
  readonly metadata: { readonly name: string; readonly namespace?: string } & Readonly<
    Record<string, unknown>
  >;
  readonly [field: string]: unknown;
}

/** A few of the texts, and more often none. */
const few = (values: readonly string[], maxLength: number, noneWeight = 1): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: noneWeight, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...values), { maxLength }) },
  );

const policy = fc.constantFrom('Cluster', 'Cluster', 'Local');

const servicePort = fc.record({
  name: fc.constantFrom('', 'http', 'dns'),
  protocol: fc.constantFrom('TCP', 'TCP', 'UDP', 'SCTP'),
  port: fc.constantFrom(...POOL.ports),
  nodePort: fc.constantFrom(0, 0, ...POOL.nodePorts),
});

const service: fc.Arbitrary<ClusterObject> = fc
  .record({
    name: fc.constantFrom(...POOL.services),
    type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
    families: fc.constantFrom(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']),
    v4: fc.constantFrom(...POOL.clusterIPs.IPv4),
    v6: fc.constantFrom(...POOL.clusterIPs.IPv6),
    ports: fc.uniqueArray(servicePort, {
      minLength: 1,
      maxLength: 3,
      selector: ({ name, protocol }) => `${name}/${protocol}`,
    }),
    externalIPs: few(POOL.externalIPs, 2, 2),
    loadBalancer: few(POOL.externalIPs, 2),
    ranges: fc.oneof(few(SOURCE_RANGES, 3), fc.constant(NODE_RANGES)),
    external: policy,
    internal: policy,
    affinity: fc.constantFrom(undefined, undefined, 30, 10800),
    // Tables of maglev have tens of thousands of slots.
    method: fc.constantFrom(undefined, undefined, 'round-robin', 'random'),
  })
  .map((drawn) => {
    const clusterIPs = drawn.families.map((family) => (family === 'IPv4' ? drawn.v4 : drawn.v6));
    return {
      metadata: {
        namespace: 'ns',
        name: drawn.name,
        ...(drawn.method !== undefined && {
          annotations: { 'kube-proxy-ts/load-balancing': drawn.method },
        }),
      },
      spec: {
        type: drawn.type,
        ipFamilies: drawn.families,
        clusterIP: clusterIPs[0],
        clusterIPs,
        ports: drawn.ports,
        externalIPs: drawn.externalIPs,
        loadBalancerSourceRanges: drawn.ranges,
        externalTrafficPolicy: drawn.external,
        internalTrafficPolicy: drawn.internal,
        healthCheckNodePort: 32000,
        ...(drawn.affinity === undefined
          ? {}
          : {
              sessionAffinity: 'ClientIP',
              sessionAffinityConfig: { clientIP: { timeoutSeconds: drawn.affinity } },
            }),
      },
      status: { loadBalancer: { ingress: drawn.loadBalancer.map((ip) => ({ ip })) } },
    };
  });

const hints = (values: readonly string[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.subarray([...values], { minLength: 1 }).map((names) => names.map((name) => ({ name }))),
    },
  );

const slice: fc.Arbitrary<ClusterObject> = fc
  .constantFrom('IPv4' as const, 'IPv6' as const)
  .chain((family) =>
    fc.record({
      family: fc.constant(family),
      name: fc.constantFrom(...POOL.slices),
      service: fc.constantFrom(...POOL.services, 'nobody'),
      weight: fc.constantFrom(undefined, undefined, '1', '3'),
      ports: fc.uniqueArray(
        fc.record({
          name: fc.constantFrom('', 'http', 'dns'),
          protocol: fc.constantFrom('TCP', 'TCP', 'UDP', 'SCTP'),
          port: fc.constantFrom(8080, 5353),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      endpoints: fc.array(
        fc.record({
          address: fc.constantFrom(...POOL.endpoints[family]),
          nodeName: fc.constantFrom(NODE, 'node2', 'node3'),
          ready: fc.constantFrom(true, true, false),
          serving: fc.boolean(),
          terminating: fc.constantFrom(false, false, true),
          forZones: hints(['zone-a', 'zone-b']),
          forNodes: hints([NODE, 'node2']),
        }),
        { maxLength: 4 },
      ),
    }),
  )
  .map((drawn) => ({
    metadata: {
      namespace: 'ns',
      name: drawn.name,
      labels: { 'kubernetes.io/service-name': drawn.service },
      ...(drawn.weight !== undefined && { annotations: { 'kube-proxy-ts/weight': drawn.weight } }),
    },
    addressType: drawn.family,
    ports: drawn.ports,
    endpoints: drawn.endpoints.map(
      ({ address, nodeName, ready, serving, terminating, forZones, forNodes }) => ({
        addresses: [address],
        nodeName,
        conditions: { ready, serving, terminating },
        hints: { ...(forZones && { forZones }), ...(forNodes && { forNodes }) },
      }),
    ),
  }));

const node: fc.Arbitrary<ClusterObject> = fc
  .record({
    zone: fc.constantFrom(undefined, 'zone-a', 'zone-b'),
    addresses: fc.constantFrom(['198.51.100.11', '2001:db8:2::11'], ['10.244.1.1'], []),
  })
  .map(({ zone, addresses }) => ({
    metadata: { name: NODE, labels: zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone } },
    spec: { podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'] },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  }));

const serviceCidr: fc.Arbitrary<ClusterObject> = fc
  .record({
    name: fc.constantFrom('one', 'two'),
    cidrs: fc.subarray(['172.30.0.0/16', '172.31.0.0/16', 'fd00:10:96::/112'], { minLength: 1 }),
  })
  .map(({ name, cidrs }) => ({ metadata: { name }, spec: { cidrs } }));

const apply = (kind: ResourceKind, object: fc.Arbitrary<ClusterObject>): fc.Arbitrary<Change> =>
  object.map((drawn) => ({ change: 'apply', kind, object: drawn }));

const remove = (kind: ResourceKind, namespace: string, names: readonly string[]): fc.Arbitrary<Change> =>
  fc.constantFrom(...names).map((name) => ({ change: 'delete', kind, namespace, name }));

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 8, arbitrary: apply('Service', service) },
  { weight: 8, arbitrary: apply('EndpointSlice', slice) },
  { weight: 1, arbitrary: apply('Node', node) },
  { weight: 1, arbitrary: apply('ServiceCIDR', serviceCidr) },
  { weight: 3, arbitrary: remove('Service', 'ns', POOL.services) },
  { weight: 3, arbitrary: remove('EndpointSlice', 'ns', POOL.slices) },
  { weight: 1, arbitrary: remove('ServiceCIDR', '', ['one', 'two']) },
  { weight: 8, arbitrary: fc.constant<Change>({ change: 'sync' }) },
);

/** What happens to a cluster, in order. */
export const history: fc.Arbitrary<readonly Change[]> = fc.array(change, {
  minLength: 1,
  maxLength: 45,
  size: 'max',
});

/** What may be configured about a node. */
export const settings: fc.Arbitrary<NodeSettings> = fc.record({
  nodeName: fc.constant(NODE),
  bindAddress: fc.constant('0.0.0.0'),
  nodePortAddresses: fc.constantFrom([], ['primary'], ['198.51.100.0/24'], ['primary', '127.0.0.0/8']),
  ownsLoopbackNodePorts: fc.boolean(),
  localTraffic: fc.constantFrom<NodeSettings['localTraffic']>(
    traffic('ClusterCIDR', ['10.244.0.0/16', 'fd00:10:244::/56']),
    traffic('ClusterCIDR', []),
    traffic('InterfaceNamePrefix', []),
    traffic('BridgeInterface', []),
  ),
  masqueradeBit: fc.constantFrom(14, 31),
  masqueradeAll: fc.constantFrom(false, false, true),
  nodeHints: fc.boolean(),
  externalIPsAllowed: fc.constantFrom(true, true, false),
});

function traffic(
  mode: NodeSettings['localTraffic']['mode'],
  clusterCIDRs: readonly string[],
): NodeSettings['localTraffic'] {
  return { mode, clusterCIDRs, bridgeInterface: 'cni0', interfaceNamePrefix: 'veth' };
}

type Applied = Extract<Change, { change: 'apply' }>;

/** The objects that exist after a history, in the order of their first coming. */
export function survivors(changes: readonly Change[]): readonly Applied[] {
  const objects = new Map<string, Applied>();
  for (const step of changes) {
    if (step.change === 'apply') {
      const id = `${step.kind} ${step.object.metadata.name}`;
      objects.set(id, withLastAddresses(step, objects.get(id)));
    } else if (step.change === 'delete') objects.delete(`${step.kind} ${step.name}`);
  }
  return [...objects.values()];
}

/** A Node that has lost its addresses counts on with the last ones it had. */
function withLastAddresses(step: Applied, former: Applied | undefined): Applied {
  const addresses = (applied: Applied | undefined) =>
    (applied?.object.status as { addresses?: unknown[] } | undefined)?.addresses ?? [];
  if (step.kind !== 'Node' || addresses(step).length > 0) return step;
  return { ...step, object: { ...step.object, status: { addresses: addresses(former) } } };
}
