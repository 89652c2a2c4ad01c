import fc from 'fast-check';
import type { ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import {
  ForwardingTable,
  type ForwardingChange,
  type ServicePart,
} from '../../../src/domain/forwarding/forwarding-table.js';
import { UncomputedServices } from '../../../src/domain/forwarding/uncomputed-services.js';
import type { Service, ServicePortSpec } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { service, slice, sliceEndpoint } from '../../support/samples.js';

const CONTEXT: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.4',
  externalIPsAllowed: true,
  usesSlots: true,
};

const port = (name: string, number: number, nodePort = 0): ServicePortSpec => ({
  name,
  protocol: 'TCP',
  port: number,
  nodePort,
});
const ports = (count: number, first = 1): readonly ServicePortSpec[] =>
  Array.from({ length: count }, (_, index) => port(`p${first + index}`, first + index));

/** Services with more than two ports are divided, and large with a weight of more than one. */
class Cluster {
  readonly state = new ClusterState();
  readonly table = new ForwardingTable();
  readonly uncomputed = new UncomputedServices(this.state, 'IPv4', (key) => this.table.entriesOf(key), 2, 8);
  private readonly known = new Set<string>();

  change(name: string, parts: Partial<Service>): void {
    this.known.add(name);
    const number = [...this.known].indexOf(name) + 1;
    this.state.applyService(service({ name, clusterIPs: { IPv4: `10.96.7.${number}` }, ...parts }));
    this.uncomputed.add(`shop/${name}`);
  }

  /** What is computed next: `a p1 p2 -p3`, the last of which goes; `a` for a whole Service. */
  take(): readonly string[] {
    const parts = this.uncomputed.take(() => false);
    this.compute(parts);
    return parts.map(({ service: key, portion }) => {
      const names = portion?.ports.map(({ name }) => name) ?? [];
      const removed = portion?.gone.map((each) => `-${each.split('/')[3]!}`) ?? [];
      return [key.split('/')[1], ...names, ...removed].join(' ');
    });
  }

  compute(parts: readonly ServicePart[]): readonly ForwardingChange[] {
    const { changes, limited } = this.table.updateParts(this.state, parts, CONTEXT);
    limited.forEach((key) => this.uncomputed.add(key));
    return changes;
  }
}

describe('Services that have changed are computed', () => {
  let cluster: Cluster;
  beforeEach(() => {
    cluster = new Cluster();
  });

  it('the small ones together, and a portion of a large one at a time, in turn', () => {
    cluster.change('big', { ports: ports(5) });
    cluster.change('small', { ports: ports(1) });
    cluster.change('many', { ports: ports(4) });
    expect(cluster.take()).toEqual(['big p1 p2', 'small']);
    expect(['big', 'small'].map((name) => cluster.uncomputed.includes(`shop/${name}`))).toEqual([
      true,
      false,
    ]);
    expect(cluster.take()).toEqual(['many p1 p2']);
    cluster.change('late', { ports: ports(1) });
    expect(cluster.take()).toEqual(['big p3 p4', 'late']);
    expect(cluster.take()).toEqual(['many p3 p4']);
    expect(cluster.take()).toEqual(['big p5']);
    expect(cluster.uncomputed.empty).toBe(true);
  });

  it('by their weight: what they have, and what they get', () => {
    const add = (name: string, endpoints: number): void => {
      const addresses = Array.from({ length: endpoints }, (_, index) => sliceEndpoint(`10.0.0.${index + 1}`));
      cluster.state.applySlice(slice(`${name}-1`, addresses, { service: name, ports: ports(1) }));
      cluster.change(name, { ports: ports(1) });
    };
    for (const name of ['a', 'b', 'c']) add(name, 4);
    add('d', 40);
    expect(cluster.take()).toEqual(['a']);
    expect(cluster.take()).toEqual(['b']);
    expect(cluster.take()).toEqual(['c']);
    expect(cluster.take()).toEqual(['d']);
    cluster.state.removeService('shop/d');
    cluster.uncomputed.add('shop/d');
    add('a', 4);
    expect(cluster.take()).toEqual(['d']);
    expect(cluster.take()).toEqual(['a']);
  });

  it('not while changes of them wait to be programmed', () => {
    cluster.change('a', { ports: ports(1) });
    cluster.change('b', { ports: ports(3) });
    const waits = (key: string): boolean => key === 'shop/b';
    expect(cluster.uncomputed.take(waits)).toEqual([{ service: 'shop/a' }]);
    expect(cluster.take()).toEqual(['b p1 p2']);
  });

  it('the ports that go first, then the others', () => {
    cluster.change('big', { ports: ports(6) });
    while (!cluster.uncomputed.empty) cluster.take();
    cluster.change('big', { ports: ports(4, 5) });
    expect(cluster.take()).toEqual(['big -p1 -p2']);
    expect(cluster.take()).toEqual(['big -p3 -p4']);
    expect(cluster.take()).toEqual(['big p5 p6']);
    expect(cluster.take()).toEqual(['big p7 p8']);
    expect(cluster.table.entriesOf('shop/big').map(({ name }) => name.port)).toEqual([
      'p5',
      'p6',
      'p7',
      'p8',
    ]);
    cluster.state.removeService('shop/big');
    cluster.uncomputed.add('shop/big');
    expect(cluster.take()).toEqual(['big -p5 -p6']);
    expect(cluster.take()).toEqual(['big -p7 -p8']);
    expect([cluster.table.size, [...cluster.table.services()], cluster.uncomputed.empty]).toEqual([
      0,
      [],
      true,
    ]);
  });

  it.each([
    ['a number', [port('p1', 2), port('p2', 1), ...ports(2, 3)]],
    ['a number with one that goes', [...ports(3), port('other', 4)]],
    ['a node port', [...ports(2), port('p3', 3, 30_004), port('p4', 4, 30_003)]],
  ])('in one piece where ports exchange %s', (_, exchanged) => {
    cluster.change('big', { ports: [...ports(2), port('p3', 3, 30_003), port('p4', 4, 30_004)] });
    while (!cluster.uncomputed.empty) cluster.take();
    cluster.change('big', { ports: exchanged });
    expect(cluster.take()).toEqual(['big']);
  });

  it('again from where they were when they change in the middle, so that no port waits for ever', () => {
    cluster.change('big', { ports: ports(5) });
    expect(cluster.take()).toEqual(['big p1 p2']);
    cluster.change('big', { ports: ports(5), affinitySeconds: 1 });
    expect(cluster.take()).toEqual(['big p3 p4']);
    cluster.change('big', { ports: ports(5), affinitySeconds: 2 });
    expect(cluster.take()).toEqual(['big p5 p1']);
    expect(cluster.take()).toEqual(['big p2 p3']);
    expect(cluster.take()).toEqual(['big p4']);
    expect([...cluster.table.entries()].every(({ affinitySeconds }) => affinitySeconds === 2)).toBe(true);
  });

  it('in one piece where ports share tables of slots', () => {
    cluster.change('hashed', { ports: ports(3), balancingMethod: 'maglev' });
    expect(cluster.take()).toEqual(['hashed']);
    cluster.change('hashed', { ports: ports(3) });
    expect(cluster.take()).toEqual(['hashed']);
    cluster.change('hashed', { ports: ports(3), affinitySeconds: 1 });
    expect(cluster.take()).toEqual(['hashed p1 p2']);
    expect(cluster.take()).toEqual(['hashed p3']);
    cluster.state.applySlice(
      slice('h-1', [sliceEndpoint('10.0.0.1', { weight: 2 })], { service: 'weighted' }),
    );
    cluster.change('weighted', { ports: ports(3) });
    expect(cluster.take()).toEqual(['weighted']);
  });

  it('one after the other when older ones leave them fewer endpoints', () => {
    const externalIPs = Array.from({ length: 79 }, (_, index) => parseAddress(`192.0.2.${index + 1}`)!);
    const endpoints = Array.from({ length: 500 }, (_, index) =>
      sliceEndpoint(`10.1.${index >> 8}.${index & 255}`),
    );
    const names = Array.from({ length: 30 }, (_, index) => `large-${index}`);
    const counts = (table: ForwardingTable) =>
      names.map((name) => table.entriesOf(`shop/${name}`)[0]!.endpoints.reachable.length);
    for (const [index, name] of names.entries()) {
      cluster.state.applySlice(slice(`${name}-1`, endpoints, { service: name, ports: ports(1) }));
      cluster.change(name, { ports: ports(1), externalIPs, createdAt: 100 - index });
    }
    for (const name of names) expect(cluster.take()).toEqual([name]);
    expect(counts(cluster.table)[0]).toBe(500);
    while (!cluster.uncomputed.empty) expect(cluster.take()).toHaveLength(1);
    expect(counts(cluster.table)[0]).toBeLessThan(500);
    expect(counts(cluster.table)).toEqual(counts(ForwardingTable.of(cluster.state, CONTEXT)));
  });
});

describe('whatever changes while Services are computed in portions', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const event = fc.oneof(
    fc.record({
      kind: fc.constant('service' as const),
      name,
      ports: fc.uniqueArray(
        fc.record({
          name: fc.constantFrom('p', 'q', 'r', 's', 't', 'u', 'v'),
          number: fc.integer({ min: 1, max: 9 }),
        }),
        { selector: ({ number }) => number, maxLength: 8 },
      ),
      nodePorts: fc.option(fc.nat(2), { nil: undefined }),
      createdAt: fc.nat(2),
      external: fc.boolean(),
      balancingMethod: fc.option(fc.constant('maglev' as const), { nil: undefined, freq: 4 }),
    }),
    fc.record({ kind: fc.constant('gone' as const), name }),
    fc.record({
      kind: fc.constant('slice' as const),
      name,
      ports: fc.subarray(['p', 'q', 'r', 's', 't', 'u', 'v']),
      endpoints: fc.nat(2),
      weight: fc.option(fc.constant(2), { nil: undefined, freq: 4 }),
    }),
  );
  type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

  function apply(cluster: Cluster, each: Event): void {
    if (each.kind === 'service') {
      const { ports: wanted, nodePorts, createdAt, external, balancingMethod } = each;
      const byName = new Map(wanted.map(({ name: text, number }) => [text, number]));
      cluster.change(each.name, {
        ports: [...byName].map(([text, number]) =>
          port(text, number, nodePorts === undefined ? 0 : 30_000 + ((3 * number + nodePorts) % 10)),
        ),
        createdAt,
        externalIPs: external ? [parseAddress('192.0.2.99')!] : [],
        ...(balancingMethod && { balancingMethod }),
      });
      return;
    }
    if (each.kind === 'gone') cluster.state.removeService(`shop/${each.name}`);
    else {
      const list = Array.from({ length: each.endpoints }, (_, index) =>
        sliceEndpoint(`10.0.0.${index + 1}`, each.weight === undefined ? {} : { weight: each.weight }),
      );
      const named = each.ports.map((text, index) => port(text, 8_000 + index));
      cluster.state.applySlice(slice(`${each.name}-1`, list, { service: each.name, ports: named }));
    }
    cluster.uncomputed.add(`shop/${each.name}`);
  }

  const places = ({ frontends, name: { protocol } }: ForwardingEntry): readonly string[] =>
    frontends.map(({ address, port: number }) => `${address} ${number} ${protocol}`);
  const byKey = (table: ForwardingTable) =>
    new Map(Array.from(table.entries(), (entry) => [entry.key, entry]));

  it('frontends have one owner each, pass from one port to another at once, and the table becomes that of a fresh start', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(event, { maxLength: 3 }), fc.nat(3)), { maxLength: 12 }),
        (steps) => {
          const cluster = new Cluster();
          const { state, table, uncomputed } = cluster;
          let programmed = new Map<string, ForwardingEntry>();
          const compute = (): void => {
            const before = new Set([...programmed.values()].flatMap(places));
            const parts = uncomputed.take(() => false);
            for (const { key, entry, former } of cluster.compute(parts)) {
              expect(former).toEqual(programmed.get(key));
              if (entry) programmed.set(key, entry);
              else programmed.delete(key);
            }
            expect(byKey(table)).toEqual(programmed);
            expect(table.size).toBe(programmed.size);
            const now = [...programmed.values()].flatMap(places);
            expect(new Set(now).size).toBe(now.length);
            for (const key of state.serviceKeys()) {
              const { clusterIPs, ports: wanted } = state.service(key)!;
              for (const each of wanted) {
                const place = `${clusterIPs.IPv4} ${each.port} TCP`;
                if (before.has(place)) expect(now).toContain(place);
              }
            }
            for (const { balancing } of programmed.values())
              for (const owner of Object.values(balancing?.tables ?? {}))
                expect(programmed.get(owner)?.balancing).toBeDefined();
          };
          for (const [events, portions] of steps) {
            events.forEach((each) => apply(cluster, each));
            for (let portion = 0; portion < portions; portion++) compute();
          }
          for (let portion = 0; !uncomputed.empty; portion++) {
            expect(portion).toBeLessThan(60);
            compute();
          }
          programmed = byKey(table);
          const fresh = ForwardingTable.of(state, CONTEXT);
          expect(programmed).toEqual(byKey(fresh));
          expect(new Set(table.services())).toEqual(new Set(fresh.services()));
          expect(table.noLocalEndpoints).toEqual(fresh.noLocalEndpoints);
          expect(table.slots.used).toEqual(fresh.slots.used);
        },
      ),
      { numRuns: 500 },
    );
  });
});
