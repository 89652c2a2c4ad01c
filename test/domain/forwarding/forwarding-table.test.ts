import fc from 'fast-check';
import type { ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { service, slice, sliceEndpoint } from '../../support/samples.js';

const CONTEXT: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.4',
  externalIPsAllowed: true,
};
const port = (name: string, nodePort = 0) => ({ name, protocol: 'TCP', port: 80, nodePort }) as const;

describe('ForwardingTable', () => {
  let state: ClusterState;
  let table: ForwardingTable;
  const update = (...services: string[]) =>
    table.update(state, services, CONTEXT).map(({ key, entry }) => [key, entry !== undefined]);

  beforeEach(() => {
    state = new ClusterState();
    table = new ForwardingTable();
  });

  it('computes the Services that are named, and no other', () => {
    state.applyService(service());
    state.applyService(service({ name: 'till' }));
    expect(update('shop/cart', 'shop/unknown')).toEqual([['shop/cart/tcp/', true]]);
    expect([table.size, [...table.services()]]).toEqual([1, ['shop/cart']]);
    expect(table.entry('shop/cart/tcp/')?.name.name).toBe('cart');
  });

  it('removes ports that are gone, then the Service', () => {
    state.applyService(service({ ports: [port('a'), port('b')] }));
    update('shop/cart');
    state.applyService(service({ ports: [port('b'), port('c')] }));
    expect(update('shop/cart')).toEqual([
      ['shop/cart/tcp/a', false],
      ['shop/cart/tcp/b', true],
      ['shop/cart/tcp/c', true],
    ]);
    expect(table.entriesOf('shop/cart').map(({ key }) => key)).toEqual([
      'shop/cart/tcp/b',
      'shop/cart/tcp/c',
    ]);
    state.removeService('shop/cart');
    expect(update('shop/cart')).toEqual([
      ['shop/cart/tcp/b', false],
      ['shop/cart/tcp/c', false],
    ]);
    expect([table.size, [...table.services()], [...table.entries()]]).toEqual([0, [], []]);
    expect(update('shop/cart')).toEqual([]);
  });

  it('removes a Service that loses its address of the family', () => {
    state.applyService(service());
    update('shop/cart');
    state.applyService(service({ clusterIPs: { IPv6: 'fd00::1' } }));
    expect(update('shop/cart')).toEqual([['shop/cart/tcp/', false]]);
  });

  it('counts a Local Service without any external frontend too (docs/internals/spec/model.md §5)', () => {
    state.applyService(service({ externalPolicyLocal: true }));
    state.applySlice(slice('a', [sliceEndpoint('10.0.0.1', { isLocal: true })]));
    update('shop/cart');
    expect(table.noLocalEndpoints).toEqual({ internal: 0, external: 1 });
  });
});

describe('after any sequence of changes', () => {
  const change = fc.oneof(
    fc.record({
      kind: fc.constant('service' as const),
      name: fc.constantFrom('a', 'b', 'c'),
      ports: fc.subarray(['x', 'y']),
      nodePort: fc.constantFrom(0, 30000),
      internalPolicyLocal: fc.boolean(),
      externalPolicyLocal: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('gone' as const), name: fc.constantFrom('a', 'b', 'c') }),
    fc.record({
      kind: fc.constant('slice' as const),
      name: fc.constantFrom('s', 't'),
      service: fc.constantFrom('a', 'b', 'c'),
      endpoints: fc.array(
        fc.record({ isLocal: fc.boolean(), ready: fc.boolean(), terminating: fc.boolean() }),
        { maxLength: 2 },
      ),
    }),
    fc.record({ kind: fc.constant('no-slice' as const), name: fc.constantFrom('s', 't') }),
  );

  it('the table is that of a fresh start, and the counters are a recount', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const state = new ClusterState();
        const table = new ForwardingTable();
        for (const each of changes) table.update(state, apply(state, each), CONTEXT);
        const fresh = new ForwardingTable();
        fresh.update(state, state.serviceKeys(), CONTEXT);
        const byKey = (one: ForwardingTable) =>
          new Map([...one.entries()].map((entry) => [entry.key, entry]));
        expect(byKey(table)).toEqual(byKey(fresh));
        expect(new Set(table.services())).toEqual(new Set(fresh.services()));
        expect(table.noLocalEndpoints).toEqual(recount(table));
      }),
      { numRuns: 300 },
    );
  });

  function apply(
    state: ClusterState,
    each: typeof change extends fc.Arbitrary<infer T> ? T : never,
  ): string[] {
    switch (each.kind) {
      case 'service': {
        const { name, ports, nodePort, internalPolicyLocal, externalPolicyLocal } = each;
        state.applyService(
          service({
            name,
            internalPolicyLocal,
            externalPolicyLocal,
            ports: ports.map((p) => port(p, nodePort)),
          }),
        );
        return [`shop/${name}`];
      }
      case 'gone':
        state.removeService(`shop/${each.name}`);
        return [`shop/${each.name}`];
      case 'slice': {
        const endpoints = each.endpoints.map((parts, index) => sliceEndpoint(`10.0.0.${index}`, parts));
        const ports = ['x', 'y'].map((name) => ({ name, port: 8080, protocol: 'TCP' as const }));
        const changed = state.applySlice(slice(each.name, endpoints, { service: each.service, ports }));
        return changed.map((one) => one.service);
      }
      case 'no-slice':
        return state.removeSlice('shop', each.name).map((one) => one.service);
    }
  }

  function recount(table: ForwardingTable) {
    const lacking = [...table.entries()].filter(
      ({ endpoints }) => endpoints.hasAny && !endpoints.local?.length,
    );
    return {
      internal: lacking.filter((entry) => entry.internalPolicyLocal).length,
      external: lacking.filter((entry) => entry.externalPolicyLocal).length,
    };
  }
});
