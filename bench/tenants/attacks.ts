import { clusterIPOf } from '../cluster.js';

/** Objects as an API server sends them, parsed when they are delivered, as decoding is a part of the load. */
export interface Delivered {
  readonly kind: 'Service' | 'EndpointSlice';
  readonly json: string;
}

/** What one tenant does within its own namespace. */
export interface Attack {
  /** For people. */
  readonly title: string;
  /** Present at the start. */
  readonly present: () => readonly Delivered[];
  /** Delivered in turn, again and again. */
  readonly changes: () => readonly (readonly Delivered[])[];
  readonly periodMs: number;
}

interface ServiceShape {
  readonly ports?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly externalIPs?: readonly string[];
  readonly sticky?: boolean;
  readonly index?: number;
}

interface SliceShape {
  readonly ports?: number;
  /** The number of the first endpoint. */
  readonly first?: number;
  readonly endpoints: number;
  readonly ready?: boolean;
  readonly weight?: number;
  readonly number?: number;
  readonly index?: number;
}

const NAMESPACE = 'tenant';
/** Of cluster IPs: far from those of other Services. */
const FIRST_INDEX = 500_000;
const FIRST_POD = 0x0ac00001; // 10.192.0.1

function named(index = 0): string {
  return `tenant-${index}`;
}

function portList(count = 1): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    protocol: 'TCP',
    port: 10_000 + index,
  }));
}

function service({
  ports,
  annotations = {},
  externalIPs = [],
  sticky = false,
  index = 0,
}: ServiceShape): Delivered {
  const clusterIP = clusterIPOf(FIRST_INDEX + index);
  return delivered('Service', {
    metadata: { name: named(index), namespace: NAMESPACE, annotations },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: portList(ports),
      externalIPs,
      ...(sticky && { sessionAffinity: 'ClientIP' }),
    },
  });
}

function slice(shape: SliceShape): Delivered {
  const { ports, first = 0, endpoints, ready = true, weight, number = 0, index = 0 } = shape;
  return delivered('EndpointSlice', {
    metadata: {
      name: `${named(index)}-${number}`,
      namespace: NAMESPACE,
      labels: { 'kubernetes.io/service-name': named(index) },
      ...(weight !== undefined && { annotations: { 'kube-proxy-ts/weight': String(weight) } }),
    },
    addressType: 'IPv4',
    ports: portList(ports),
    endpoints: Array.from({ length: endpoints }, (_, endpoint) => ({
      addresses: [ipv4(FIRST_POD + first + endpoint)],
      nodeName: 'another-node',
      conditions: { ready, serving: ready, terminating: false },
    })),
  });
}

function delivered(kind: Delivered['kind'], object: object): Delivered {
  return { kind, json: JSON.stringify({ kind, ...object }) };
}

function ipv4(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}

/** Slices of 1,000 endpoints each. @param weightOf of each slice */
function slices(count: number, weightOf?: (number: number) => number): readonly Delivered[] {
  return Array.from({ length: count }, (_, number) => thousand(number, true, weightOf));
}

function thousand(number: number, ready: boolean, weightOf?: (number: number) => number): Delivered {
  const weight = weightOf?.(number);
  return slice({
    number,
    first: 1_000 * number,
    endpoints: 1_000,
    ready,
    ...(weight !== undefined && { weight }),
  });
}

/** One slice of a thousand endpoints comes and goes. */
function flapping(weightOf?: (number: number) => number): readonly (readonly Delivered[])[] {
  return [[thousand(0, false, weightOf)], [thousand(0, true, weightOf)]];
}

const MAGLEV = { 'kube-proxy-ts/load-balancing': 'maglev' };
const FOUR = ['198.51.100.101', '198.51.100.102', '198.51.100.103', '198.51.100.104'];

/** 20,000 keys that are no addresses, in 250 KB. */
function invalidWeights(mark: string): Delivered {
  const keys = Array.from(
    { length: 20_000 },
    (_, index) => `"${mark}${index.toString(36).padStart(4, '0')}":0`,
  );
  return service({ annotations: { 'kube-proxy-ts/weight': `{${keys.join(',')}}` } });
}

/** Weights from 1 to 7. */
const weights = (number: number): number => 1 + (number % 7);

/** By name, as the command line has them. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  quiet: { title: 'nothing', present: () => [], changes: () => [], periodMs: 1_000 },
  ports: {
    title: '20,000 ports, toggled every 2 s',
    present: () => [service({ ports: 20_000 }), slice({ ports: 20_000, endpoints: 1 })],
    changes: () => [[service({ ports: 1 })], [service({ ports: 20_000 })]],
    periodMs: 2_000,
  },
  endpoints: {
    title: '10,000 endpoints, of which 1,000 flap every 100 ms',
    present: () => [service({}), ...slices(10)],
    changes: () => flapping(),
    periodMs: 100,
  },
  weights: {
    title: '10,000 weighted endpoints, of which 1,000 flap every 100 ms',
    present: () => [service({}), ...slices(10, weights)],
    changes: () => flapping(weights),
    periodMs: 100,
  },
  affinity: {
    title: '10,000 endpoints with session affinity, of which 1,000 flap every 100 ms',
    present: () => [service({ sticky: true }), ...slices(10)],
    changes: () => flapping(),
    periodMs: 100,
  },
  slices: {
    title: '100 slices of 1,000 endpoints, of which one flaps every 100 ms',
    present: () => [service({}), ...slices(100)],
    changes: () => flapping(),
    periodMs: 100,
  },
  product: {
    title: '200 ports of 1,000 endpoints, which flap every second',
    present: () => [service({ ports: 200 }), slice({ ports: 200, endpoints: 1_000 })],
    changes: () => [
      [slice({ ports: 200, endpoints: 1_000, ready: false })],
      [slice({ ports: 200, endpoints: 1_000 })],
    ],
    periodMs: 1_000,
  },
  annotation: {
    title: '20,000 invalid keys in an annotation, others every 100 ms',
    present: () => [service({}), slice({ endpoints: 3 })],
    changes: () => [[invalidWeights('a')], [invalidWeights('b')]],
    periodMs: 100,
  },
  'maglev-ports': {
    title: 'Maglev for 100 ports of 30 endpoints, created and changed every second',
    present: () => [],
    changes: () => [
      [service({ ports: 100, annotations: MAGLEV }), slice({ ports: 100, endpoints: 30 })],
      [slice({ ports: 100, first: 1, endpoints: 30 })],
    ],
    periodMs: 1_000,
  },
  'maglev-lists': {
    title: 'Maglev for 50 Services of 30 endpoints, changed every second',
    present: () => [],
    changes: () =>
      [0, 1].map((first) =>
        Array.from({ length: 50 }, (_, index) => [
          service({ index, annotations: MAGLEV }),
          slice({ index, first, endpoints: 30 }),
        ]).flat(),
      ),
    periodMs: 1_000,
  },
  'maglev-shuffled': {
    title: 'Maglev on four external IPs, endpoints reshuffled every 100 ms',
    present: () => [service({ annotations: MAGLEV, externalIPs: FOUR }), slice({ endpoints: 30 })],
    changes: () => [1, 11, 23].map((first) => [slice({ first, endpoints: 30 })]),
    periodMs: 100,
  },
  'maglev-toggled': {
    title: 'Maglev and random choice in turn every 100 ms',
    present: () => [service({}), slice({ endpoints: 30 })],
    changes: () => [[service({ annotations: MAGLEV })], [service({})]],
    periodMs: 100,
  },
};
