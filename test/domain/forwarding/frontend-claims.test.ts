import fc from 'fast-check';
import {
  requestedFrontends,
  type ForwardingEntry,
  frontendName,
} from '../../../src/domain/forwarding/forwarding-entry.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { Service } from '../../../src/domain/model/service.js';
import { serviceKey } from '../../../src/domain/model/service-port-name.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { FORWARDING, service, slice, sliceEndpoint } from '../../support/samples.js';

const ips = (...texts: string[]) => texts.map((text) => parseAddress(text)!);

/** Programs the Services, with an endpoint for each whose name is not `idle…`, and returns who is served at an address. */
function ownerAmong(
  services: readonly Partial<Service>[],
  address = '192.0.2.99',
  port = 80,
): string | undefined {
  const state = new ClusterState();
  for (const [index, parts] of services.entries()) {
    const each = service({ clusterIPs: { IPv4: `10.96.0.${index + 1}` }, ...parts });
    state.applyService(each);
    if (each.name.startsWith('idle')) continue;
    state.applySlice(
      slice(each.name, [sliceEndpoint(`10.0.0.${index + 1}`)], {
        namespace: each.namespace,
        service: each.name,
      }),
    );
  }
  const owners = [...ForwardingTable.of(state, FORWARDING).entries()].filter(({ frontends }) =>
    frontends.some((one) => one.address === address && one.port === port),
  );
  expect(owners.length).toBeLessThan(2);
  return owners[0]?.name.name;
}

describe('Of Services that request one address and port, the owner is', () => {
  const external = { externalIPs: ips('192.0.2.99') };
  const balanced = { loadBalancerIPs: ips('192.0.2.99') };

  it('the one whose cluster IP it is, whatever the names, the ages and the endpoints', () => {
    const victim = { clusterIPs: { IPv4: '192.0.2.99' }, createdAt: 9 };
    expect(
      ownerAmong([
        { name: 'aa', createdAt: 1, ...external },
        { name: 'zz', ...victim },
      ]),
    ).toBe('zz');
    expect(
      ownerAmong([
        { name: 'aa', createdAt: 1, ...balanced },
        { name: 'zz', ...victim },
      ]),
    ).toBe('zz');
    expect(
      ownerAmong([
        { name: 'aa', createdAt: 1, ...balanced },
        { name: 'idle', ...victim },
      ]),
    ).toBe('idle');
  });

  it('the one whose load-balancer IP it is before one with an external IP', () => {
    expect(
      ownerAmong([
        { name: 'aa', createdAt: 1, ...external },
        { name: 'zz', createdAt: 9, ...balanced },
      ]),
    ).toBe('zz');
    expect(
      ownerAmong([
        { name: 'aa', createdAt: 1, ...external },
        { name: 'idle', createdAt: 9, ...balanced },
      ]),
    ).toBe('idle');
  });

  it('of one kind the one with endpoints, then the older, then the first by namespace and name', () => {
    for (const kind of [external, balanced]) {
      expect(
        ownerAmong([
          { name: 'idle', createdAt: 1, ...kind },
          { name: 'zz', createdAt: 9, ...kind },
        ]),
      ).toBe('zz');
      expect(
        ownerAmong([
          { name: 'aa', createdAt: 9, ...kind },
          { name: 'zz', createdAt: 8, ...kind },
        ]),
      ).toBe('zz');
      expect(
        ownerAmong([
          { name: 'aa', createdAt: 1_000_000_000, ...kind },
          { name: 'zz', createdAt: 999_999_999, ...kind },
        ]),
      ).toBe('zz');
      expect(
        ownerAmong([
          { name: 'aa', ...kind },
          { name: 'zz', createdAt: 9, ...kind },
        ]),
      ).toBe('zz');
      expect(
        ownerAmong([
          { name: 'b', ...kind },
          { name: 'a', ...kind },
        ]),
      ).toBe('a');
      // Not by the keys, in which `-` comes before `/`.
      expect(
        ownerAmong([
          { name: 'x', namespace: 'a-b', ...kind },
          { name: 'y', namespace: 'a', ...kind },
        ]),
      ).toBe('y');
    }
  });

  it('the same for node ports', () => {
    const nodePort = (createdAt: number): Partial<Service> => ({
      createdAt,
      ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
    });
    const owner = (...names: readonly [string, string]) => {
      const state = new ClusterState();
      for (const [index, name] of names.entries())
        state.applyService(
          service({ name, clusterIPs: { IPv4: `10.96.0.${index}` }, ...nodePort(9 - index) }),
        );
      const entries = [...ForwardingTable.of(state, FORWARDING).entries()];
      return entries
        .filter(({ frontends }) => frontends.some(({ kind }) => kind === 'node-port'))
        .map(({ name }) => name.name);
    };
    expect(owner('a', 'b')).toEqual(['b']);
  });

  it('every one of other ports and protocols', () => {
    const port = (protocol: 'TCP' | 'UDP', number: number) => ({
      ports: [{ name: '', protocol, port: number, nodePort: 0 }],
    });
    const services = [
      { name: 'a', ...external, ...port('TCP', 80) },
      { name: 'b', ...external, ...port('TCP', 81) },
    ];
    expect(ownerAmong(services)).toBe('a');
    expect(ownerAmong(services, '192.0.2.99', 81)).toBe('b');
  });
});

describe('One Service', () => {
  it('has an address once: as its load-balancer IP, so that its source ranges hold, or as its cluster IP', () => {
    const state = new ClusterState();
    const both = ips('192.0.2.99', '10.96.7.1');
    state.applyService(service({ externalIPs: both, loadBalancerIPs: both }));
    const [entry] = ForwardingTable.of(state, FORWARDING).entries();
    expect(entry!.frontends.map(({ kind, address }) => `${kind} ${address}`)).toEqual([
      'cluster-ip 10.96.7.1',
      'load-balancer-ip 192.0.2.99',
    ]);
  });
});

describe('A reserved frontend', () => {
  const reserved = {
    '192.0.2.99:80/TCP': 'the API server that this proxy uses',
    'node port 30080/TCP': 'the metrics',
  };
  const at = (state: ClusterState, context = { ...FORWARDING, reserved }) =>
    [...ForwardingTable.of(state, context).entries()].map(({ name, frontends }) => [
      name.name,
      ...frontends.map(({ kind }) => kind),
    ]);

  it('belongs to no external IP, load-balancer IP and node port, but to a cluster IP', () => {
    const state = new ClusterState();
    const port = { name: '', protocol: 'TCP', port: 80, nodePort: 30080 } as const;
    state.applyService(service({ name: 'a', externalIPs: ips('192.0.2.99'), ports: [port] }));
    state.applyService(
      service({ name: 'b', clusterIPs: { IPv4: '10.96.0.2' }, loadBalancerIPs: ips('192.0.2.99') }),
    );
    expect(at(state)).toEqual([
      ['a', 'cluster-ip'],
      ['b', 'cluster-ip'],
    ]);
    state.applyService(service({ name: 'c', clusterIPs: { IPv4: '192.0.2.99' } }));
    expect(at(state)).toContainEqual(['c', 'cluster-ip']);
  });

  it('goes from its Services and comes back as soon as the next change of any Service', () => {
    const state = new ClusterState();
    state.applyService(service({ name: 'a', externalIPs: ips('192.0.2.99') }));
    const table = ForwardingTable.of(state, FORWARDING);
    const frontend = { address: '192.0.2.99', port: 80 };
    expect(table.ownerOf('TCP', frontend)).toBe('shop/a/tcp/');
    expect(table.update(state, [], { ...FORWARDING, reserved })).toMatchObject([
      { key: 'shop/a/tcp/', former: { frontends: [{}, {}] }, entry: { frontends: [{ kind: 'cluster-ip' }] } },
    ]);
    expect([table.ownerOf('TCP', frontend), table.reservedFor('TCP', frontend)]).toEqual([
      undefined,
      reserved['192.0.2.99:80/TCP'],
    ]);
    expect(table.update(state, [], { ...FORWARDING, reserved: { ...reserved } })).toEqual([]);
    expect(table.update(state, [], FORWARDING)).toMatchObject([{ entry: { frontends: [{}, {}] } }]);
    expect(table.reservedFor('TCP', frontend)).toBeUndefined();
  });
});

describe('A reserved address', () => {
  const reserved = { '192.0.2.99': 'the API server', '192.0.2.99:443/TCP': 'the API server' };
  const kindsOf = (table: ForwardingTable) =>
    Object.fromEntries(
      [...table.entries()].map(({ name, frontends }) => [name.name, frontends.map(({ kind }) => kind)]),
    );

  it('is no external IP and load-balancer IP with any port or protocol, but may be a cluster IP', () => {
    const state = new ClusterState();
    const udp = { name: '', protocol: 'UDP', port: 53, nodePort: 30053 } as const;
    state.applyService(service({ name: 'a', externalIPs: ips('192.0.2.99', '192.0.2.98') }));
    state.applyService(
      service({
        name: 'b',
        clusterIPs: { IPv4: '10.96.0.2' },
        loadBalancerIPs: ips('192.0.2.99'),
        ports: [udp],
      }),
    );
    state.applyService(service({ name: 'c', clusterIPs: { IPv4: '192.0.2.99' } }));
    const table = ForwardingTable.of(state, { ...FORWARDING, reserved });
    expect(kindsOf(table)).toEqual({
      a: ['cluster-ip', 'external-ip'],
      b: ['cluster-ip', 'node-port'],
      c: ['cluster-ip'],
    });
    expect(table.ownerOf('TCP', { address: '192.0.2.99', port: 80 })).toBe('shop/c/tcp/');
    const dns = { address: '192.0.2.99', port: 53 };
    expect([table.ownerOf('UDP', dns), table.reservedFor('UDP', dns)]).toEqual([undefined, 'the API server']);
  });

  it('goes from its Services and comes back with the next change of any Service', () => {
    const state = new ClusterState();
    state.applyService(service({ name: 'a', externalIPs: ips('192.0.2.99') }));
    state.applyService(service({ name: 'b', clusterIPs: { IPv4: '10.96.0.2' } }));
    const table = ForwardingTable.of(state, FORWARDING);
    const changed = (context: typeof FORWARDING) =>
      table.update(state, [], context).map(({ key, entry }) => [key, entry?.frontends.length]);
    expect(changed({ ...FORWARDING, reserved })).toEqual([['shop/a/tcp/', 1]]);
    expect(changed({ ...FORWARDING, reserved: { ...reserved } })).toEqual([]);
    expect(changed(FORWARDING)).toEqual([['shop/a/tcp/', 2]]);
  });
});

describe('A table with conflicts', () => {
  const NAMES = ['a', 'b', 'c', 'd'];
  const ADDRESSES = ['10.96.0.1', '10.96.0.2', '192.0.2.1'];
  const anIPv4 = fc.constantFrom(...ADDRESSES);
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('service' as const),
        name: fc.constantFrom(...NAMES),
        createdAt: fc.constantFrom(undefined, 1, 2, 10),
        clusterIP: anIPv4,
        externalIPs: fc.uniqueArray(anIPv4, { maxLength: 2 }),
        loadBalancerIPs: fc.uniqueArray(anIPv4, { maxLength: 1 }),
        ports: fc.uniqueArray(
          fc.record({
            name: fc.constantFrom('x', 'y'),
            port: fc.constantFrom(80, 81),
            nodePort: fc.constantFrom(0, 30080),
          }),
          { minLength: 1, maxLength: 2, selector: ({ name }) => name },
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('endpoints' as const),
        name: fc.constantFrom(...NAMES),
        count: fc.constantFrom(0, 1),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('gone' as const), name: fc.constantFrom(...NAMES) }),
    },
  );

  function apply(state: ClusterState, each: typeof step extends fc.Arbitrary<infer T> ? T : never): string {
    const { name } = each;
    if (each.kind === 'gone') state.removeService(`shop/${name}`);
    else if (each.kind === 'endpoints') {
      const endpoints = each.count === 0 ? [] : [sliceEndpoint('10.0.0.1')];
      const ports = ['x', 'y'].map((port) => ({ name: port, port: 8080, protocol: 'TCP' as const }));
      state.applySlice(slice(name, endpoints, { service: name, ports }));
    } else {
      const { createdAt, clusterIP, ports } = each;
      state.applyService(
        service({
          name,
          ...(createdAt !== undefined && { createdAt }),
          clusterIPs: { IPv4: clusterIP },
          externalIPs: ips(...each.externalIPs),
          loadBalancerIPs: ips(...each.loadBalancerIPs),
          ports: ports.map((port) => ({ ...port, protocol: 'TCP' as const })),
        }),
      );
    }
    return `shop/${name}`;
  }

  /** The owner by definition: all that request a frontend, sorted. */
  function expectedOwners(entries: readonly ForwardingEntry[]): Map<string, string> {
    const kinds = ['cluster-ip', 'load-balancer-ip', 'external-ip', 'node-port'];
    const requests = entries.flatMap((entry) =>
      requestedFrontends(entry).map(({ address, port, kind, outcome }) => ({
        frontend: frontendName(address, port, 'TCP'),
        key: entry.key,
        order: [kinds.indexOf(kind), Number(outcome === 'reject'), entry.createdAt ?? Infinity],
      })),
    );
    requests.sort((one, other) => {
      const index = one.order.findIndex((value, place) => value !== other.order[place]);
      return index < 0 ? (one.key < other.key ? -1 : 1) : one.order[index]! - other.order[index]!;
    });
    const owners = new Map<string, string>();
    for (const { frontend, key } of requests) if (!owners.has(frontend)) owners.set(frontend, key);
    return owners;
  }

  it('serves each frontend for its owner alone, as after a fresh start, and reports all that changes', () => {
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 3 }), { maxLength: 15 }), (batches) => {
        const state = new ClusterState();
        const table = new ForwardingTable();
        const reported = new Map<string, ForwardingEntry>();
        for (const batch of batches) {
          const changed = new Set(batch.map((each) => apply(state, each)));
          for (const { key, entry, former } of table.update(state, changed, FORWARDING)) {
            expect(former).toEqual(reported.get(key));
            if (entry) reported.set(key, entry);
            else reported.delete(key);
          }
          const entries = [...table.entries()];
          expect(reported).toEqual(new Map(entries.map((entry) => [entry.key, entry])));
          const fresh = ForwardingTable.of(state, FORWARDING);
          expect(new Map([...fresh.entries()].map((entry) => [entry.key, entry]))).toEqual(reported);
          const served = entries.flatMap((entry) =>
            entry.frontends.map(({ address, port }): [string, string] => [
              frontendName(address, port, 'TCP'),
              entry.key,
            ]),
          );
          expect(served.sort()).toEqual([...expectedOwners(entries)].sort());
        }
      }),
      { numRuns: 400 },
    );
  });

  it('changes two service ports when an owner leaves, however many request the same', () => {
    const state = new ClusterState();
    const name = (number: number): string => `s${String(number).padStart(4, '0')}`;
    const count = 2_000;
    for (let number = 0; number < count; number++)
      state.applyService(
        service({
          name: name(number),
          clusterIPs: { IPv4: `10.96.${number >> 8}.${number & 255}` },
          externalIPs: ips('192.0.2.99'),
        }),
      );
    const table = ForwardingTable.of(state, FORWARDING);
    const key = serviceKey('shop', name(0));
    state.removeService(key);
    const changed = table.update(state, [key], FORWARDING).map((change) => change.key);
    expect(changed).toEqual([`shop/${name(0)}/tcp/`, `shop/${name(1)}/tcp/`]);
    expect(table.ownerOf('TCP', { address: '192.0.2.99', port: 80 })).toBe(`shop/${name(1)}/tcp/`);
  });
});
