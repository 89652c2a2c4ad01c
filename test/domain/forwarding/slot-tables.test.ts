import { SLOT_LIMITS } from '../../../src/domain/balancing/slot-budget.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { slotDemand } from '../../../src/domain/forwarding/slot-tables.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { SLOTS } from '../../../src/domain/nftables/layout/sets.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { Service } from '../../../src/domain/model/service.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { endpoint, FORWARDING, service, slice, sliceEndpoint } from '../../support/samples.js';

const CONTEXT = { ...FORWARDING, usesSlots: true };
const port = (name: string) => ({ name, protocol: 'TCP', port: 80 + name.length, nodePort: 0 }) as const;
const list = (count: number, targetPort = 8080) =>
  Array.from({ length: count }, (_, index) =>
    endpoint(`10.244.${index >> 8}.${index & 255}`, { port: targetPort }),
  );

describe('tables of slots', () => {
  const owners = (parts: Partial<Service>, lists: Readonly<Record<string, ReturnType<typeof list>>>) =>
    forwardService(service(parts), ({ port }) => lists[port]!, CONTEXT).map(
      ({ balancing }) => balancing?.tables?.cluster,
    );

  it('are shared by ports with the same addresses, whatever their target ports', () => {
    const ports = [port('c'), port('b'), port('a'), port('d')];
    const lists = { a: list(3, 8080), b: list(3, 9090), c: list(3, 8080), d: list(2, 8080) };
    expect(owners({ balancingMethod: 'maglev', ports }, lists)).toEqual([
      'shop/cart/tcp/a',
      'shop/cart/tcp/a',
      undefined,
      undefined,
    ]);
  });

  it('are not shared where weights differ, or nothing needs a table', () => {
    const ports = [port('a'), port('b')];
    const heavy = list(3).map((each) => ({ ...each, weight: 5 }));
    expect(owners({ balancingMethod: 'maglev', ports }, { a: list(3), b: heavy })).toEqual([
      undefined,
      undefined,
    ]);
    expect(owners({ ports }, { a: list(3), b: list(3) })).toEqual([undefined, undefined]);
  });
});

it('a list has a table if its own weights differ, whatever other lists of the port have', () => {
  const zone = 'z1';
  const near = list(2).map((each) => ({ ...each, zoneHints: [zone] }));
  const here = [1, 5].map((weight) =>
    endpoint(`10.245.0.${weight}`, { isLocal: true, zoneHints: ['z2'], weight }),
  );
  const lists: Readonly<Record<string, ReturnType<typeof list>>> = { a: near, b: [...near, ...here] };
  const external = { externalPolicyLocal: true, balancingMethod: 'round-robin' } as const;
  const entries = forwardService(
    service({ ...external, ports: [port('a'), port('b')].map((each) => ({ ...each, nodePort: 30_080 })) }),
    ({ port: name }) => lists[name]!,
    { ...CONTEXT, topology: { ...CONTEXT.topology, zone } },
  );
  const slots = entries.flatMap((entry) =>
    compileNftables(entry)
      .filter(({ shared }) => shared === SLOTS)
      .map(({ elements }) => elements.length),
  );
  expect(slots).toEqual([6]);
  expect(slotDemand(entries)!.slots).toBe(6);
});

describe('the room for tables of slots', () => {
  /** Services with this many ports, each with endpoints of its own, which need 16,381 slots. */
  function add(state: ClusterState, name: string, ports: number, createdAt?: number): void {
    const names = Array.from({ length: ports }, (_, index) => `p${index}`);
    const own = { name, clusterIPs: { IPv4: `10.96.0.${name.length}` }, balancingMethod: 'maglev' } as const;
    const age = createdAt === undefined ? {} : { createdAt };
    state.applyService(service({ ...own, ...age, ports: names.map(port) }));
    names.forEach((each, index) =>
      state.applySlice(
        slice(
          `${name}-${each}`,
          Array.from({ length: 90 }, (_, at) => sliceEndpoint(`10.${index}.1.${at}`)),
          { service: name, ports: [{ name: each, protocol: 'TCP', port: 8080 }] },
        ),
      ),
    );
  }
  const balancedOf = (table: ForwardingTable, name: string) =>
    new Set(table.entriesOf(`shop/${name}`).map(({ balancing }) => balancing?.method));

  it('is limited for a Service, which else is balanced at random, with the reason', () => {
    const state = new ClusterState();
    add(state, 'few', 4);
    add(state, 'many', 5);
    const table = ForwardingTable.of(state, CONTEXT);
    expect(balancedOf(table, 'few')).toEqual(new Set(['maglev']));
    expect(balancedOf(table, 'many')).toEqual(new Set([undefined]));
    expect(table.entriesOf('shop/many')[0]!.deniedBalancing).toEqual({
      balancing: { method: 'maglev', isWeighted: false },
      reason: `${5 * 16_381} slots are needed, and a Service may have ${SLOT_LIMITS.ofService}`,
    });
    expect(table.slots).toMatchObject({ used: 4 * 16_381, deniedServices: 1 });
    // Other modes have no such tables.
    const elsewhere = ForwardingTable.of(state, FORWARDING);
    expect(balancedOf(elsewhere, 'many')).toEqual(new Set(['maglev']));
  });

  it('is first for the oldest Services', () => {
    const state = new ClusterState();
    const names = Array.from({ length: 9 }, (_, index) => `s${index}`);
    for (const name of names) add(state, name, 4, 1_800_000_000 - Number(name.slice(1)));
    const table = ForwardingTable.of(state, CONTEXT);
    expect(names.filter((name) => !balancedOf(table, name).has('maglev'))).toEqual(['s0']);
  });

  it('is limited for the node; a Service gets its tables back with the change that makes room', () => {
    const state = new ClusterState();
    const names = Array.from({ length: 9 }, (_, index) => `s${index}`);
    for (const name of names) add(state, name, 4);
    const table = new ForwardingTable();
    const methods = () => names.map((name) => [...balancedOf(table, name)][0]);
    table.update(
      state,
      names.map((name) => `shop/${name}`),
      CONTEXT,
    );
    expect(methods()).toEqual([...names.slice(1).map(() => 'maglev'), undefined]);
    state.removeService('shop/s3');
    const changed = table
      .update(state, ['shop/s3'], CONTEXT)
      .map(({ key, entry }) => [key, entry?.balancing?.method]);
    expect(changed).toEqual([
      ...[0, 1, 2, 3].map((number) => [`shop/s3/tcp/p${number}`, undefined]),
      ...[0, 1, 2, 3].map((number) => [`shop/s8/tcp/p${number}`, 'maglev']),
    ]);
    expect(table.entriesOf('shop/s8')).toEqual(ForwardingTable.of(state, CONTEXT).entriesOf('shop/s8'));
  });
});
