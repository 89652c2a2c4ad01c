import fc from 'fast-check';
import { EndpointBudget, endpointsNote } from '../../../src/domain/forwarding/endpoint-budget.js';
import type { ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { readEndpointSlice } from '../../../src/domain/decode/read-endpoint-slice.js';
import { readService } from '../../../src/domain/decode/read-service.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import type { Service } from '../../../src/domain/model/service.js';
import { rawService, rawSlice } from '../../support/objects.js';
import { service, slice, sliceEndpoint } from '../../support/samples.js';

const LIMITS = { ofService: 1_024, ofNode: 4_096, small: 128 };
const CONTEXT: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: '', nodeHints: true },
  nodeIP: '192.0.2.1',
  externalIPsAllowed: true,
};

describe('what a Service may have', () => {
  it('is limited only where it has more, and less where many do', () => {
    const budget = new EndpointBudget(LIMITS);
    budget.request('a', 2_000);
    budget.request('b', 600);
    expect([budget.decide(), budget.limitOf('a'), budget.limitOf('b')]).toEqual([[], 1_024, undefined]);
    for (const more of ['c', 'd', 'e']) budget.request(more, 2_000);
    expect(budget.decide()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(['a', 'b', 'e'].map((service) => budget.limitOf(service))).toEqual([512, 512, 512]);
    budget.request('e', 0);
    expect(budget.decide()).toEqual(['a', 'b', 'c', 'd']);
    expect(['a', 'b', 'e'].map((service) => budget.limitOf(service))).toEqual([1_024, undefined, undefined]);
  });

  it('depends on the present Services alone, never on the order of events; small ones are not touched', () => {
    const request = fc.record({
      service: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'),
      endpoints: fc.nat(3_000),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 80 }), (requests) => {
        const budget = new EndpointBudget(LIMITS);
        for (const { service, endpoints } of requests) {
          budget.request(service, endpoints);
          budget.decide();
        }
        const present = new Map(requests.map(({ service, endpoints }) => [service, endpoints]));
        const fresh = new EndpointBudget(LIMITS);
        for (const [service, endpoints] of [...present].reverse()) fresh.request(service, endpoints);
        fresh.decide();
        for (const [service, endpoints] of present) {
          expect(budget.limitOf(service)).toBe(fresh.limitOf(service));
          if (endpoints <= LIMITS.small) expect(budget.limitOf(service)).toBeUndefined();
        }
      }),
    );
  });
});

const ports = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1, protocol: 'TCP' }));
const pods = (count: number, parts: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({
    addresses: [`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`],
    ...parts(index),
  }));

function tableOf(
  service: object,
  slices: readonly object[],
): { state: ClusterState; table: ForwardingTable } {
  const state = new ClusterState();
  state.applyService(readService(service).value!);
  slices.forEach((slice) => state.applySlice(readEndpointSlice(slice, 'n1').value!));
  const table = new ForwardingTable();
  table.update(state, ['shop/cart'], CONTEXT);
  return { state, table };
}

describe('a Service with more endpoints than it may have', () => {
  it('uses those that can serve, those on this node first, and the first port reports it', () => {
    const { table } = tableOf(rawService({ ports: ports(1_000) }), [
      rawSlice({
        ports: ports(1_000),
        endpoints: pods(1_000, (index) =>
          index < 500 ? { conditions: { ready: false } } : { nodeName: index > 997 ? 'n1' : 'n2' },
        ),
      }),
    ]);
    const entries = [...table.entries()];
    const [first, ...others] = entries;
    expect(endpointsNote(first!)).toBe(
      'its Service has too many endpoints for its frontends; each port uses at most 65',
    );
    expect(others.map(endpointsNote).filter((note) => note !== undefined)).toEqual([]);
    for (const { endpoints, knownEndpoints } of entries) {
      expect([endpoints.reachable.length, knownEndpoints]).toEqual([65, 1_000]);
      expect(endpoints.reachable.every(({ ready }) => ready)).toBe(true);
      expect(endpoints.reachable.filter(({ isLocal }) => isLocal)).toHaveLength(2);
    }
  });

  it('has the same endpoints after any changes as after a start', () => {
    const slice = (number: number, count: number) =>
      rawSlice({ ports: ports(20), endpoints: pods(count) }, { name: `cart-${number}` });
    const service = rawService({ ports: ports(20) });
    const { state, table } = tableOf(
      service,
      [0, 1, 2, 3, 4].map((number) => slice(number, 900)),
    );
    for (const [number, count] of [
      [3, 10],
      [1, 1_000],
      [3, 1_000],
      [4, 0],
    ] as const) {
      state.applySlice(readEndpointSlice(slice(number, count), 'n1').value!);
      table.update(state, ['shop/cart'], CONTEXT);
    }
    const fresh = tableOf(
      service,
      (
        [
          [0, 900],
          [1, 1_000],
          [2, 900],
          [3, 1_000],
          [4, 0],
        ] as const
      ).map(([number, count]) => slice(number, count)),
    );
    expect([...table.entries()]).toEqual([...fresh.table.entries()]);
  });
});

it('Services without a cluster IP of the family take nothing of what others may have', () => {
  const externalIPs = Array.from({ length: 79 }, (_, index) => parseAddress(`192.0.2.${index + 1}`)!);
  const state = new ClusterState();
  const table = new ForwardingTable();
  const add = (name: string, clusterIPs: Service['clusterIPs']) => {
    state.applyService(service({ name, clusterIPs, externalIPs }));
    const endpoints = Array.from({ length: 500 }, (_, index) =>
      sliceEndpoint(`10.1.${index >> 8}.${index & 255}`),
    );
    state.applySlice(slice(`${name}-1`, endpoints, { service: name }));
    table.update(state, [`shop/${name}`], CONTEXT);
  };
  add('served', { IPv4: '10.96.0.1' });
  for (let number = 1; number <= 16; number++) add(`other-${number}`, { IPv6: `fd00::${number}` });
  table.update(state, ['shop/served'], CONTEXT);
  expect(table.entriesOf('shop/served').map(({ endpoints }) => endpoints.reachable.length)).toEqual([500]);
});

it('a slice of 20,000 ports and 1,000 endpoints keeps its addresses once', () => {
  const before = process.memoryUsage().heapUsed;
  const raw = rawSlice({ ports: ports(20_000), endpoints: pods(1_000) });
  const { state, table } = tableOf(rawService({ ports: ports(20_000) }), [raw]);
  state.applySlice(readEndpointSlice(raw, 'n1').value!);
  const slice = state.slicesOf('shop/cart')[0]!;
  expect(state.applySlice(readEndpointSlice(raw, 'n1').value!)).toEqual([]);
  expect(state.slicesOf('shop/cart')[0]).toBe(slice);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024);
  expect(table.size).toBe(20_000);
  expect(slice.ports[7]!.endpoints[0]).toMatchObject({ address: '10.0.0.0', port: 8 });
});
