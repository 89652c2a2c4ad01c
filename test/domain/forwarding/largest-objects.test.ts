import fc from 'fast-check';
import {
  tooManyFrontends,
  USUAL_FRONTENDS_LIMIT,
  readService,
} from '../../../src/domain/decode/read-service.js';
import { readEndpointSlice } from '../../../src/domain/decode/read-endpoint-slice.js';
import { ENDPOINT_LIMITS } from '../../../src/domain/forwarding/endpoint-budget.js';
import type { ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { WaitingChanges } from '../../../src/domain/forwarding/waiting-changes.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';

/** The largest object that an API server accepts, in bytes. */
const MOST_BYTES = 1.5e6;
/** Elements of one portion: far less than the memory of the program takes. */
const MOST_ELEMENTS = 500_000;

const CONTEXT: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: 'a', nodeHints: true },
  nodeIP: '192.0.2.1',
  externalIPsAllowed: true,
  usesSlots: true,
};

interface Shape {
  readonly ports: number;
  readonly externalIPs: number;
  readonly loadBalancerIPs: number;
  readonly sourceRanges: number;
  readonly nodePorts: boolean;
  readonly balancing: 'random' | 'round-robin' | 'maglev' | 'maglev-source' | undefined;
  readonly weighted: boolean;
  readonly sticky: boolean;
  readonly local: boolean;
  readonly slices: number;
  readonly endpoints: number;
  readonly slicePorts: number;
}

const PLAIN: Shape = {
  ports: 1,
  externalIPs: 0,
  loadBalancerIPs: 0,
  sourceRanges: 0,
  nodePorts: false,
  balancing: undefined,
  weighted: false,
  sticky: false,
  local: false,
  slices: 1,
  endpoints: 3,
  slicePorts: 1,
};

const list = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const ipv4 = (first: number, index: number) =>
  `${first}.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
const ports = (count: number) =>
  list(count, (index) => ({ name: `p${index}`, port: 1 + index, protocol: 'TCP' }));

function serviceOf(shape: Shape): object {
  const weights = list(6_000, (index) => [ipv4(10, index), index % 1_001] as const);
  const annotations = {
    ...(shape.balancing && { 'kube-proxy-ts/load-balancing': shape.balancing }),
    ...(shape.weighted && { 'kube-proxy-ts/weight': JSON.stringify(Object.fromEntries(weights)) }),
  };
  return {
    metadata: { namespace: 'shop', name: 'cart', annotations },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.7.1',
      ports: ports(shape.ports).map((port, index) => ({
        ...port,
        ...(shape.nodePorts && { nodePort: 1 + index }),
      })),
      externalIPs: list(shape.externalIPs, (index) => ipv4(198, index)),
      loadBalancerSourceRanges: list(shape.sourceRanges, (index) => `${ipv4(100, index)}/32`),
      externalTrafficPolicy: shape.local ? 'Local' : 'Cluster',
      ...(shape.sticky && { sessionAffinity: 'ClientIP' }),
    },
    status: { loadBalancer: { ingress: list(shape.loadBalancerIPs, (index) => ({ ip: ipv4(203, index) })) } },
  };
}

function sliceOf({ slicePorts, endpoints }: Shape, number: number, moved = 0): object {
  return {
    metadata: { namespace: 'shop', name: `cart-${number}`, labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: ports(slicePorts),
    endpoints: list(endpoints, (index) => ({
      addresses: [ipv4(10, number * 1_000 + index + moved)],
      nodeName: index % 7 === 0 ? 'n1' : 'n2',
    })),
  };
}

/** Programs what waits. */
function program(waiting: WaitingChanges, desired: NftablesDesiredState): void {
  while (!waiting.empty) {
    const change = new TableChange();
    for (const { key, entry } of waiting.take())
      desired.replace(key, entry && compileNftables(entry, desired.rules(key)), change);
    let elements = 0;
    for (const { removed, added, unused } of change.sets())
      elements += removed.elements.length + added.elements.length + unused.elements.length;
    expect(elements).toBeLessThan(MOST_ELEMENTS);
  }
}

/** The Service comes, one of its slices changes, and it goes. */
function live(shape: Shape): void {
  const state = new ClusterState();
  const table = new ForwardingTable();
  const waiting = new WaitingChanges();
  const desired = new NftablesDesiredState();
  const follow = () => {
    waiting.add(table.update(state, ['shop/cart'], CONTEXT));
    program(waiting, desired);
    const endpoints = [...table.entries()].reduce(
      (sum, entry) => sum + entry.frontends.length * entry.endpoints.reachable.length,
      0,
    );
    // Each port has one endpoint at least.
    expect(endpoints).toBeLessThanOrEqual(Math.max(ENDPOINT_LIMITS.ofService, USUAL_FRONTENDS_LIMIT));
  };
  const raw = serviceOf(shape);
  const { value } = readService(raw);
  if (value && tooManyFrontends(value, USUAL_FRONTENDS_LIMIT) === undefined) state.applyService(value);
  for (let number = 0; number < shape.slices; number++)
    state.applySlice(readEndpointSlice(sliceOf(shape, number), 'n1').value!);
  follow();
  state.applySlice(readEndpointSlice(sliceOf(shape, 0, 500), 'n1').value!);
  follow();
  state.removeService('shop/cart');
  follow();
  expect([table.size, desired.elementCount]).toEqual([0, 0]);
}

describe('the largest objects that an API server accepts are programmed in portions of limited size', () => {
  it.each<[string, Partial<Shape>]>([
    ['20,000 ports with 1,000 endpoints', { ports: 20_000, slicePorts: 20_000, endpoints: 1_000 }],
    ['100 slices of 1,000 endpoints', { slices: 100, endpoints: 1_000 }],
    [
      'the same, weighted, chosen by Maglev',
      { slices: 100, endpoints: 1_000, weighted: true, balancing: 'maglev' },
    ],
    [
      'the same, with session affinity',
      { slices: 100, endpoints: 1_000, sticky: true, local: true, nodePorts: true },
    ],
    [
      '20,000 source ranges on 100 ports',
      { ports: 100, slicePorts: 100, loadBalancerIPs: 1, sourceRanges: 20_000 },
    ],
    ['65,000 source ranges', { loadBalancerIPs: 1, sourceRanges: 65_000 }],
    ['19,998 external IPs', { externalIPs: 19_998, slices: 5, endpoints: 1_000 }],
  ])('%s', (_, parts) => {
    const shape = { ...PLAIN, ...parts };
    expect(JSON.stringify(sliceOf(shape, 0)).length).toBeLessThan(MOST_BYTES);
    live(shape);
  });

  const shapes: fc.Arbitrary<Shape> = fc.record({
    ports: fc.constantFrom(1, 10, 100, 5_000),
    externalIPs: fc.constantFrom(0, 3, 100),
    loadBalancerIPs: fc.constantFrom(0, 2),
    sourceRanges: fc.constantFrom(0, 10, 3_000),
    nodePorts: fc.boolean(),
    balancing: fc.constantFrom(undefined, 'random', 'round-robin', 'maglev', 'maglev-source'),
    weighted: fc.boolean(),
    sticky: fc.boolean(),
    local: fc.boolean(),
    slices: fc.constantFrom(1, 5, 20),
    endpoints: fc.constantFrom(0, 30, 1_000),
    slicePorts: fc.constantFrom(1, 100, 5_000),
  });

  it('in any combination of features', () => {
    const numRuns = Number(process.env.LARGEST_OBJECTS ?? 3);
    fc.assert(fc.property(shapes, live), { numRuns, endOnFailure: true });
  }, 600_000);
});
