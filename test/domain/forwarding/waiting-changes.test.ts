import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import { WaitingChanges } from '../../../src/domain/forwarding/waiting-changes.js';
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
    waiting = new WaitingChanges(2);
  });

  it('are handed out at once, in their order, where no Service has too many', () => {
    waiting.add([added(entry('b', 'x', 1)), added(entry('a', 'x', 2)), added(entry('b', 'y', 3))]);
    expect(names(waiting.take())).toEqual(['b:x', 'b:y', 'a:x']);
    expect([waiting.empty, waiting.take()]).toEqual([true, []]);
  });

  it('of a Service with too many come in portions, and the others with the first', () => {
    waiting.add([1, 2, 3, 4, 5].map((port) => added(entry('big', `p${port}`, port))));
    waiting.add([added(entry('small', 'x', 80))]);
    expect(names(waiting.take())).toEqual(['big:p1', 'big:p2', 'small:x']);
    expect([waiting.includes('shop/big'), waiting.includes('shop/small')]).toEqual([true, false]);
    waiting.add([added(entry('late', 'x', 81))]);
    expect(names(waiting.take())).toEqual(['big:p3', 'big:p4', 'late:x']);
    expect(names(waiting.take())).toEqual(['big:p5']);
    expect(waiting.empty).toBe(true);
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

  it('that concern one frontend stay together, also over several', () => {
    const ports = [1, 2, 3, 4, 5, 6];
    // Each port moves to the number of the next one but the first half, which is removed for others to come.
    const moved = ports.map((port) =>
      replaced(entry('big', `p${port}`, port), entry('big', `p${port}`, (port % 6) + 1)),
    );
    waiting.add([added(entry('big', 'before', 70)), added(entry('big', 'too', 71)), ...moved]);
    expect(names(waiting.take())).toEqual(['big:before', 'big:too']);
    expect(new Set(names(waiting.take()))).toEqual(new Set(ports.map((port) => `big:p${port}`)));
  });

  it('that swap a frontend between Services stay together', () => {
    waiting.add([1, 2, 3].map((port) => removed(entry('big', `p${port}`, port))));
    waiting.add([added(entry('other', 'x', 3))]);
    expect(names(waiting.take())).toEqual(['big:p1', 'big:p2', 'other:x', 'big:p3']);
  });

  it('that come while others wait join those that concern their frontend', () => {
    waiting.add([1, 2, 3, 4, 5, 6].map((port) => removed(entry('big', `p${port}`, port))));
    waiting.take();
    waiting.add([added(entry('other', 'x', 6))]);
    expect(names(waiting.take())).toEqual(['big:p3', 'big:p4', 'other:x', 'big:p6']);
    expect(names(waiting.take())).toEqual(['big:p5']);
  });

  const change = fc.record({
    service: fc.constantFrom('a', 'b', 'c'),
    name: fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6'),
    port: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
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
          for (const { service, name, port } of batch) {
            const wanted = port === undefined ? undefined : entry(service, name, port);
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
