import type { ResourceKind } from '../../../../src/application/ports/cluster-source.js';
import { protobufEncoding } from '../../../../src/adapters/kubernetes/encoding/protobuf-encoding.js';
import { readEndpointSlice, readEndpoints } from '../../../../src/domain/decode/read-endpoint-slice.js';
import { readNode } from '../../../../src/domain/decode/read-node.js';
import { readServiceCidr } from '../../../../src/domain/decode/read-service-cidr.js';
import { readService } from '../../../../src/domain/decode/read-service.js';
import { encodeObject } from '../../../support/api-server/protobuf.js';
import { readableInto } from '../harness.js';

/*
 * The protobuf reader skips what `domain/decode` does not read. Here every field that it does read is watched: one that a
 * sample lacks, or that the reader skips, fails.
 */

const metadata = {
  name: 'web',
  namespace: 'shop',
  resourceVersion: '5',
  creationTimestamp: '2026-10-01T08:30:00Z',
  deletionTimestamp: '2026-11-22T17:06:43Z',
  labels: {
    'kubernetes.io/service-name': 'web',
    'service.kubernetes.io/service-proxy-name': 'other',
    'service.kubernetes.io/headless': '',
    'topology.kubernetes.io/zone': 'a',
  },
  annotations: {
    'kube-proxy-ts/ipvs-scheduler': 'mh',
    'kube-proxy-ts/eject-unresponsive-endpoints': 'true',
    'kube-proxy-ts/load-balancing': 'maglev',
    'kube-proxy-ts/weight': '5',
    'endpoints.kubernetes.io/last-change-trigger-time': '2026-11-22T17:06:43Z',
  },
};

/** Without what makes the decoder ignore the rest of the object. */
const { 'service.kubernetes.io/service-proxy-name': _proxy, ...serviceLabels } = metadata.labels;
const { 'service.kubernetes.io/headless': _headless, ...sliceLabels } = metadata.labels;

const port = { name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', nodePort: 30080 };

const SAMPLES: readonly (readonly [ResourceKind, (raw: unknown) => unknown, Record<string, unknown>])[] = [
  ['Service', readService, { metadata }],
  [
    'Service',
    readService,
    {
      metadata: { ...metadata, labels: serviceLabels },
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.1',
        clusterIPs: ['10.96.0.1'],
        ipFamilies: ['IPv4'],
        ports: [port],
        selector: { app: 'web' },
        externalIPs: ['203.0.113.7'],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
        loadBalancerSourceRanges: ['203.0.113.0/24'],
        externalTrafficPolicy: 'Local',
        internalTrafficPolicy: 'Local',
        healthCheckNodePort: 32000,
      },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.8', ipMode: 'VIP' }] } },
    },
  ],
  ['EndpointSlice', (raw) => readEndpointSlice(raw, 'node-a'), { metadata }],
  [
    'EndpointSlice',
    (raw) => readEndpointSlice(raw, 'node-a'),
    {
      metadata: { ...metadata, labels: sliceLabels },
      addressType: 'IPv4',
      ports: [{ name: '', protocol: 'UDP', port: 53 }],
      endpoints: [
        {
          addresses: ['10.244.0.1'],
          conditions: { ready: false, serving: true, terminating: true },
          targetRef: { kind: 'Pod', name: 'web-7f9' },
          nodeName: 'node-a',
          zone: 'a',
          hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] },
        },
      ],
    },
  ],
  [
    'Endpoints',
    (raw) => readEndpoints(raw, 'node-a'),
    {
      metadata,
      subsets: [
        {
          addresses: [{ ip: '10.244.0.1', nodeName: 'node-a', targetRef: { kind: 'Pod', name: 'web-7f9' } }],
          notReadyAddresses: [
            { ip: '10.244.0.2', nodeName: 'node-b', targetRef: { kind: 'Pod', name: 'web-2x4' } },
          ],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ],
    },
  ],
  [
    'Node',
    readNode,
    {
      metadata,
      spec: { podCIDRs: ['10.244.0.0/24'], taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] },
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
    },
  ],
  ['ServiceCIDR', readServiceCidr, { metadata, spec: { cidrs: ['10.96.0.0/16'] } }],
];

type Path = readonly string[];

/** The value, which notes the path of each of its fields that is read. */
function watched<T>(value: T, path: Path, note: (path: Path) => void): T {
  if (typeof value !== 'object' || value === null) return value;
  const see = (key: string | symbol): unknown => {
    const inner: unknown = Reflect.get(value, key);
    if (typeof key === 'symbol' || (Array.isArray(value) && !/^\d+$/.test(key))) return inner;
    note([...path, key]);
    return watched(inner, [...path, key], note);
  };
  return new Proxy(value, {
    get: (_, key) => see(key),
    getOwnPropertyDescriptor(target, key) {
      see(key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

function throughProtobuf(kind: ResourceKind, item: object): unknown {
  const list = { kind: `${kind}List`, apiVersion: 'v1', metadata: { resourceVersion: '7' }, items: [item] };
  const items: unknown[] = [];
  protobufEncoding.listDecoder(kind, readableInto(items)).push(encodeObject(list)!);
  return items[0];
}

it.each(SAMPLES)('a sample %s gives the same model', (kind, read, sample) => {
  expect(read(throughProtobuf(kind, sample))).toEqual(read(sample));
});

it.each(['Service', 'EndpointSlice', 'Endpoints', 'Node', 'ServiceCIDR'] as const)(
  'protobuf keeps every field of a %s that is decoded',
  (kind) => {
    const missing = new Set<string>();
    const kept = new Set<string>();
    for (const [of, read, sample] of SAMPLES) {
      if (of !== kind) continue;
      const decoded = throughProtobuf(kind, sample);
      const note = (path: Path): void => {
        (at(decoded, path) === undefined ? missing : kept).add(path.join(' '));
      };
      read(watched(sample, [], note));
    }
    expect(kept.size).toBeGreaterThan(3);
    expect([...missing].filter((path) => !kept.has(path))).toEqual([]);
  },
);
