import fc from 'fast-check';
import {
  ENDPOINT_LIMITS,
  EndpointBudget,
  endpointsNote,
  type EndpointDemand,
} from '../../../src/domain/forwarding/endpoint-budget.js';
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
  const demand = (endpoints: number, createdAt?: number, least = 1) => ({ endpoints, least, createdAt });

  it('is limited only where it has more', () => {
    const budget = new EndpointBudget(LIMITS);
    budget.request('a', demand(2_000));
    budget.request('b', demand(600));
    expect([budget.decide(), budget.limitOf('a'), budget.limitOf('b')]).toEqual([[], 1_024, undefined]);
  });

  it('is all of it for an older Service, whatever younger ones have, and a part for these', () => {
    const budget = new EndpointBudget(LIMITS);
    const young = Array.from({ length: 40 }, (_, index) => `a${index}`);
    for (const service of young) budget.request(service, demand(1_024, 100));
    budget.request('old', demand(1_024, 50));
    budget.decide();
    expect(budget.limitOf('old')).toBeUndefined();
    const limits = young.sort().map((service) => budget.limitOf(service) ?? 1_024);
    expect(limits.slice(0, 10)).toEqual([1_024, 1_024, 128, 64, 64, 64, 64, 64, 64, 64]);
    expect(limits).toEqual([...limits].sort((one, other) => other - one));
    expect(limits.reduce((sum, limit) => sum + limit, 1_024)).toBeLessThanOrEqual(LIMITS.ofNode);
  });

  it('is never less than one endpoint for each frontend', () => {
    const budget = new EndpointBudget(LIMITS);
    for (let index = 0; index < 8; index++) budget.request(`a${index}`, demand(1_024, index));
    budget.request('many', demand(1_024, 100, 300));
    budget.decide();
    expect(budget.limitOf('many')).toBe(300);
  });

  it('changes for younger Services only when an older one changes by more than a little', () => {
    const budget = new EndpointBudget(LIMITS);
    ['a', 'b', 'c', 'd'].forEach((service, age) => budget.request(service, demand(1_000, age)));
    expect(budget.decide()).toEqual(['d']);
    budget.request('b', demand(1_001, 1));
    expect(budget.decide()).toEqual([]);
    budget.request('b', demand(0, 1));
    expect(budget.decide()).toEqual(['d']);
    expect(budget.limitOf('d')).toBeUndefined();
  });

  it('depends on the present Services alone, never on the order of events, and for none on a younger one', () => {
    const request = fc.record({
      service: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'),
      endpoints: fc.nat(3_000),
      createdAt: fc.option(fc.nat(5), { nil: undefined }),
      least: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 80 }), (requests) => {
        const budget = new EndpointBudget(LIMITS);
        const seen = new Map<string, number>();
        const granted = (service: string, from: EndpointBudget, endpoints: number) =>
          from.limitOf(service) ?? endpoints;
        const present = new Map<string, EndpointDemand>();
        for (const { service, ...parts } of requests) {
          budget.request(service, parts);
          present.set(service, parts);
          const changed = [service, ...budget.decide()];
          for (const each of changed) seen.set(each, granted(each, budget, present.get(each)!.endpoints));
        }
        const byAge = [...present].sort(
          ([a, one], [b, other]) => (one.createdAt ?? 1e9) - (other.createdAt ?? 1e9) || (a < b ? -1 : 1),
        );
        const fresh = new EndpointBudget(LIMITS);
        for (const [service, parts] of [...present].reverse()) fresh.request(service, parts);
        fresh.decide();
        const older = new EndpointBudget(LIMITS);
        let ofLarge = 0;
        for (const [service, parts] of byAge) {
          const { endpoints } = parts;
          const limit = budget.limitOf(service);
          expect(seen.get(service)).toBe(granted(service, budget, endpoints));
          expect(limit).toBe(fresh.limitOf(service));
          older.request(service, parts);
          older.decide();
          expect(limit).toBe(older.limitOf(service));
          if (endpoints <= LIMITS.small) expect(limit).toBeUndefined();
          else ofLarge += limit ?? endpoints;
        }
        expect(ofLarge).toBeLessThanOrEqual(LIMITS.ofNode);
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
      'its Service, alone or with older ones, has too many endpoints for its frontends; each port uses at most 65',
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

describe('of Services with 500 endpoints and 80 frontends', () => {
  const externalIPs = Array.from({ length: 79 }, (_, index) => parseAddress(`192.0.2.${index + 1}`)!);
  let state: ClusterState;
  let table: ForwardingTable;
  beforeEach(() => {
    state = new ClusterState();
    table = new ForwardingTable();
  });
  const add = (name: string, clusterIPs: Service['clusterIPs'], createdAt: number) => {
    state.applyService(service({ name, clusterIPs, externalIPs, createdAt }));
    const endpoints = Array.from({ length: 500 }, (_, index) =>
      sliceEndpoint(`10.1.${index >> 8}.${index & 255}`),
    );
    state.applySlice(slice(`${name}-1`, endpoints, { service: name }));
    table.update(state, [`shop/${name}`], CONTEXT);
  };
  const used = (name: string) =>
    table.entriesOf(`shop/${name}`).map(({ endpoints }) => endpoints.reachable.length);

  it('those without a cluster IP of the family take nothing of what others may have', () => {
    add('served', { IPv4: '10.96.0.1' }, 1_000);
    for (let number = 1; number <= 30; number++) add(`other-${number}`, { IPv6: `fd00::${number}` }, 0);
    table.update(state, ['shop/served'], CONTEXT);
    expect(used('served')).toEqual([500]);
  });

  it('the oldest keep all their endpoints, and the youngest is limited', () => {
    for (let number = 1; number <= 30; number++) add(`a${number}`, { IPv4: `10.96.1.${number}` }, 1_000);
    add('served', { IPv4: '10.96.0.1' }, 10);
    expect([used('served'), used('a1'), used('a9')]).toEqual([[500], [500], [25]]);
    const programmed = [...table.entries()].reduce(
      (sum, { endpoints }) => sum + 80 * endpoints.reachable.length,
      0,
    );
    expect(programmed).toBeLessThanOrEqual(ENDPOINT_LIMITS.ofNode);
    state.removeService('shop/a1');
    const changed = table.update(state, ['shop/a1'], CONTEXT).map(({ key }) => key);
    expect(changed.length).toBeGreaterThan(1);
    const fresh = ForwardingTable.of(state, CONTEXT);
    for (const name of ['served', 'a2', 'a9'])
      expect(table.entriesOf(`shop/${name}`)).toEqual(fresh.entriesOf(`shop/${name}`));
  });
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
