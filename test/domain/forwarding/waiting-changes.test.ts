import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import { WaitingChanges } from '../../../src/domain/forwarding/waiting-changes.js';
import { endpoint } from '../../support/samples.js';
import { serviceOf, servicePortKey } from '../../../src/domain/model/service-port-name.js';

/** As far as portions depend on it. */
function entry(service: string, name: string, ...ports: readonly number[]): ForwardingEntry {
  const portName = { namespace: 'shop', name: service, port: name, protocol: 'TCP' } as const;
  return {
    key: servicePortKey(portName),
    name: portName,
    frontends: ports.map((port) => ({
      kind: 'cluster-ip',
      address: '10.96.0.1',
      port,
      policy: 'Cluster',
      outcome: 'forward',
    })),
    endpoints: { reachable: [] },
    sourceRanges: [],
  } as unknown as ForwardingEntry;
}

const added = (wanted: ForwardingEntry): ForwardingChange => ({ key: wanted.key, entry: wanted });
const removed = (former: ForwardingEntry): ForwardingChange => ({
  key: former.key,
  entry: undefined,
  former,
});
const replaced = (former: ForwardingEntry, wanted: ForwardingEntry): ForwardingChange => ({
  ...added(wanted),
  former,
});
const names = (portion: readonly ForwardingChange[]): readonly string[] =>
  portion.map(({ key }) => key.replace('shop/', '').replace('/tcp/', ':'));

describe('WaitingChanges', () => {
  let waiting: WaitingChanges;
  beforeEach(() => {
    waiting = new WaitingChanges(8);
  });

  const large = (service: string, name: string, port: number, endpoints: number): ForwardingEntry => ({
    ...entry(service, name, port),
    endpoints: { reachable: Array.from({ length: endpoints }, () => ({})) } as never,
  });
  const ports = (service: string, count: number, first = 1) =>
    Array.from({ length: count }, (_, index) => added(entry(service, `p${first + index}`, first + index)));

  it('are handed out at once, in their order, where they are few', () => {
    waiting.add([added(entry('b', 'x', 1)), added(entry('a', 'x', 2)), added(entry('b', 'y', 3))]);
    expect(names(waiting.take())).toEqual(['b:x', 'b:y', 'a:x']);
    expect([waiting.empty, waiting.take()]).toEqual([true, []]);
  });

  it('of a large Service come in portions, after those of the others', () => {
    waiting.add(ports('big', 20));
    waiting.add([added(entry('small', 'x', 80))]);
    expect(names(waiting.take())).toEqual([
      'small:x',
      ...[1, 2, 3, 4, 5, 6, 7].map((port) => `big:p${port}`),
    ]);
    expect([waiting.includes('shop/big'), waiting.includes('shop/small')]).toEqual([true, false]);
    waiting.add([added(entry('late', 'x', 81))]);
    expect(names(waiting.take()).slice(0, 2)).toEqual(['late:x', 'big:p8']);
    expect(names(waiting.take())).toHaveLength(6);
    expect(waiting.empty).toBe(true);
  });

  it('are handed out at once up to 2,000 elements, and those of a Service of up to 250 come first', () => {
    waiting = new WaitingChanges();
    waiting.add(ports('a', 2_000));
    expect(waiting.take()).toHaveLength(2_000);
    waiting.add([...ports('large', 1_750), ...ports('light', 250, 3_001), added(entry('late', 'x', 5_000))]);
    const first = names(waiting.take());
    expect([first.length, first[0], first[250], first[251]]).toEqual([
      2_000,
      'light:p3001',
      'late:x',
      'large:p1',
    ]);
    expect(names(waiting.take())).toEqual(['large:p1750']);
    waiting.add([...ports('large', 1_750), ...ports('other', 251, 3_001)]);
    const second = names(waiting.take());
    expect([second.length, second[0], second.at(-1)]).toEqual([2_000, 'large:p1', 'other:p3250']);
    expect(names(waiting.take())).toEqual(['other:p3251']);
    expect(waiting.take()).toEqual([]);
  });

  it('of two large Services come in turn', () => {
    waiting.add([...ports('one', 20), ...ports('two', 20, 100)]);
    const owners = [1, 2, 3, 4].map(() => [
      ...new Set(names(waiting.take()).map((name) => name.split(':')[0])),
    ]);
    expect(owners).toEqual([['one'], ['two'], ['one'], ['two']]);
  });

  it('of many small Services come in portions, too, the oldest first', () => {
    waiting.add(Array.from({ length: 20 }, (_, index) => added(entry(`s${index}`, 'x', index + 1))));
    expect(names(waiting.take())).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((index) => `s${index}:x`));
    expect(names(waiting.take())).toHaveLength(8);
    expect(names(waiting.take())).toHaveLength(4);
  });

  it('that are larger than a portion come alone, one turn later; small ones pass them twice, and not for ever', () => {
    waiting.add([added(large('big', 'x', 1, 1_000)), added(large('big', 'y', 2, 1_000))]);
    const portions: (readonly string[])[] = [];
    for (let turn = 0; turn < 6; turn++) {
      waiting.add([added(entry(`v${turn}`, 'x', 100 + turn))]);
      portions.push(names(waiting.take()));
    }
    expect(portions).toEqual([['v0:x'], ['v1:x'], ['big:x'], ['v2:x', 'v3:x'], ['v4:x'], ['big:y']]);
    expect(names(waiting.take())).toEqual(['v5:x']);
    expect(waiting.empty).toBe(true);
  });

  it('that are larger than a portion come in the turn after their own where no others are', () => {
    waiting.add([added(large('big', 'x', 1, 1_000)), added(large('big', 'y', 2, 1_000))]);
    const portions = [1, 2, 3, 4].map(() => names(waiting.take()));
    expect(portions).toEqual([[], ['big:x'], [], ['big:y']]);
    expect(waiting.empty).toBe(true);
  });

  it('that are larger than a portion keep their turn when another change takes their place', () => {
    const [before, after] = [large('big', 'x', 1, 1_000), large('big', 'x', 1, 999)];
    waiting.add([added(before), added(entry('v0', 'x', 100))]);
    expect(names(waiting.take())).toEqual(['v0:x']);
    waiting.add([replaced(before, after), added(entry('v1', 'x', 101))]);
    expect(names(waiting.take())).toEqual(['v1:x']);
    expect(waiting.take()).toEqual([added(after)]);
    expect(waiting.empty).toBe(true);
  });

  it('with tables of slots count as so many elements as well', () => {
    const endpoints = Array.from({ length: 2 }, (_, index) => endpoint(`10.244.1.${index}`));
    const hashed = (service: string, port: number): ForwardingEntry => ({
      ...large(service, 'p', port, 2),
      endpoints: { cluster: endpoints, reachable: endpoints } as never,
      balancing: { method: 'maglev', isWeighted: false },
    });
    waiting = new WaitingChanges(2_000);
    waiting.add([added(hashed('a', 1)), added(hashed('b', 2)), ...ports('c', 3, 3)]);
    expect(names(waiting.take())).toEqual(['c:p3', 'c:p4', 'c:p5', 'a:p']);
    expect(names(waiting.take())).toEqual(['b:p']);
  });

  it('of one service port become one, from what was programmed to what is wanted last', () => {
    const [one, two, three] = [1, 2, 3].map((port) => entry('a', 'x', port)) as [
      ForwardingEntry,
      ForwardingEntry,
      ForwardingEntry,
    ];
    waiting.add([replaced(one, two)]);
    waiting.add([replaced(two, three)]);
    expect(waiting.take()).toEqual([replaced(one, three)]);
  });

  describe('that concern one frontend', () => {
    beforeEach(() => {
      waiting = new WaitingChanges(2);
    });

    it('stay together, also over several', () => {
      const ports = [1, 2, 3, 4, 5, 6];
      // Each port moves to the number of the next one but the first half, which is removed for others to come.
      const moved = ports.map((port) =>
        replaced(entry('big', `p${port}`, port), entry('big', `p${port}`, (port % 6) + 1)),
      );
      waiting.add([added(entry('big', 'before', 70)), added(entry('big', 'too', 71)), ...moved]);
      expect(names(waiting.take())).toEqual(['big:before', 'big:too']);
      expect(new Set(names(waiting.take()))).toEqual(new Set(ports.map((port) => `big:p${port}`)));
    });

    it('stay together where Services swap it', () => {
      waiting.add([1, 2, 3].map((port) => removed(entry('big', `p${port}`, port))));
      waiting.add([added(entry('other', 'x', 3))]);
      expect(names(waiting.take())).toEqual(['big:p1', 'big:p2']);
      expect(new Set(names(waiting.take()))).toEqual(new Set(['other:x', 'big:p3']));
    });

    it('are joined by those that come while others wait', () => {
      waiting.add([1, 2, 3, 4, 5, 6].map((port) => removed(entry('big', `p${port}`, port))));
      waiting.take();
      waiting.add([added(entry('other', 'x', 6))]);
      expect(names(waiting.take())).toEqual(['big:p3', 'big:p4']);
      expect(new Set(names(waiting.take()).concat(names(waiting.take())))).toEqual(
        new Set(['other:x', 'big:p6', 'big:p5']),
      );
    });
  });

  const change = fc.record({
    service: fc.constantFrom('a', 'b', 'c'),
    name: fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6'),
    port: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    endpoints: fc.nat(3),
  });

  it('reach the table that all of them make, never apart from what shares a frontend with them', () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 8 }), (batches) => {
        const waiting = new WaitingChanges(2);
        const table = new Map<string, ForwardingEntry>();
        const programmed = new Map<string, ForwardingEntry>();
        const program = (): void => {
          const before = new Map(programmed);
          const portion = waiting.take();
          const places = (side: ForwardingEntry | undefined) => side?.frontends.map(({ port }) => port) ?? [];
          const touched = new Set(
            portion.flatMap(({ former, entry }) => [...places(former), ...places(entry)]),
          );
          for (const { key, entry, former } of portion) {
            expect(former).toEqual(before.get(key));
            if (entry) programmed.set(key, entry);
            else programmed.delete(key);
          }
          // Whatever a frontend of this portion is about is as it should be now.
          const at = (entries: ReadonlyMap<string, ForwardingEntry>) =>
            [...entries.values()]
              .flatMap((each) => places(each).map((port) => `${port} ${each.key}`))
              .filter((text) => touched.has(Number(text.split(' ', 1)[0])))
              .sort();
          expect(at(programmed)).toEqual(at(table));
        };
        for (const batch of batches) {
          for (const { service, name, port, endpoints } of batch) {
            const wanted = port === undefined ? undefined : large(service, name, port, endpoints);
            const key = entry(service, name).key;
            const former = table.get(key);
            if (wanted) table.set(key, wanted);
            else table.delete(key);
            waiting.add([{ key, entry: wanted, ...(former && { former }) }]);
          }
          program();
        }
        for (let portions = 0; !waiting.empty; portions++) {
          expect(portions).toBeLessThan(18);
          program();
        }
        expect(programmed).toEqual(table);
        expect(['a', 'b', 'c'].some((name) => waiting.includes(serviceOf(`shop/${name}/tcp/`)))).toBe(false);
      }),
    );
  });
});
