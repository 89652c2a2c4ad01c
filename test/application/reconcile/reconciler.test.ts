import fc from 'fast-check';
import type { Backend } from '../../../src/application/ports/backend.js';
import type { ReadOptions } from '../../../src/application/ports/driver.js';
import { Reconciler } from '../../../src/application/reconcile/reconciler.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { sampleEntry, sampleNode, type SampleShape } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MEMORY, MemoryDriver, MemoryKernel, type Refusal } from './memory-driver.js';

const node = sampleNode('IPv4');
const sample = (name: string, shape: SampleShape) => sampleEntry('IPv4', name, shape);
const changed = (...entries: readonly ForwardingEntry[]) =>
  entries.map((entry) => ({ key: entry.key, entry }));
const gone = (...entries: readonly ForwardingEntry[]) =>
  entries.map(({ key }) => ({ key, entry: undefined }));
const labelOf = (name: string) => `contract/${name}:main: `;

let kernel: MemoryKernel;
let logger: MemoryLogger;
let backend: Backend;

const open = (on = kernel) => new Reconciler(MEMORY, new MemoryDriver(on), logger);
/** What a fresh start with these leaves in a kernel of its own. */
async function fresh(...entries: readonly ForwardingEntry[]): Promise<ReadonlyMap<string, string>> {
  const own = new MemoryKernel();
  await open(own).start(entries, node);
  return own.lines;
}
const refusing = (names: readonly string[], refusal: Refusal) => (_: string, value: string) =>
  names.some((name) => value.startsWith(labelOf(name))) ? refusal : undefined;

beforeEach(() => {
  kernel = new MemoryKernel();
  logger = new MemoryLogger();
  backend = open();
});

describe.each([
  ['at once', 'named'],
  ['at once', 'anonymous'],
  ['by line', 'named'],
  ['until refused', 'named'],
  ['until refused', 'anonymous'],
] as const)('a driver that writes %s and whose refusals are %s', (writes, refusal) => {
  const subject: BackendSubject<MemoryKernel> = {
    family: 'IPv4',
    makePlace: () => Object.assign(new MemoryKernel(), { writes }),
    open: (place) => new Reconciler(MEMORY, new MemoryDriver(place), new MemoryLogger()),
    snapshot: (place) => [...place.lines].sort(),
    damage: (place) => place.tamper((lines) => lines.clear()),
    writesInParts: writes === 'by line',
    writes: ({ commits }) => commits,
    reject(place, key) {
      const [, name] = key?.split('/') ?? [];
      place.refuse = name === undefined ? () => undefined : refusing([name], refusal);
    },
  };

  for (const { name, run } of backendContract(subject)) it(name, run);

  it('has after any changes and refusals what a fresh start would have', async () => {
    const shape = fc.record({
      number: fc.integer({ min: 1, max: 3 }),
      endpoints: fc.integer({ min: 0, max: 2 }),
      external: fc.boolean(),
    });
    const names = ['a', 'b', 'c', 'd', 'e'];
    const step = fc.record({
      services: fc.dictionary(fc.constantFrom(...names), fc.option(shape), { maxKeys: 4 }),
      refused: fc.subarray(names),
      tampered: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
        const [place, one] = [
          Object.assign(new MemoryKernel(), { writes }),
          new Map<string, ForwardingEntry>(),
        ];
        const running = open(place);
        await running.start([], node);
        for (const { services, refused, tampered } of steps) {
          const changes = Object.entries(services).map(([name, parts]) =>
            parts ? changed(sample(name, parts))[0]! : gone(sample(name, { number: 1 }))[0]!,
          );
          if (tampered) place.tamper((lines) => lines.clear());
          place.refuse = refusing(refused, refusal);
          const { failed } = await running.apply(changes, node);
          for (const { key, entry } of changes)
            if (entry) one.set(key, entry);
            else one.delete(key);
          if (refused.length === 0) expect(failed).toEqual([]);
          place.refuse = () => undefined;
          // What failed is sent again, also what failed in a repair; the rest was written although something was refused.
          const again = failed.map(({ key }) => ({ key, entry: one.get(key) }));
          expect((await running.apply(again, node)).failed).toEqual([]);
          await running.verify('full');
          expect(new Map([...place.lines].sort())).toEqual(
            new Map([...(await fresh(...one.values()))].sort()),
          );
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('a service port that is refused', () => {
  const [a, b, c] = [1, 2, 3].map((number) => sample(`s${number}`, { number }));

  it.each(['named', 'anonymous'] as const)('keeps its last good rules (%s)', async (refusal) => {
    await backend.start([a!, b!, c!], node);
    kernel.refuse = refusing(['s1', 's3'], refusal);
    const wanted = [1, 2, 3].map((number) => sample(`s${number}`, { number, endpoints: 1 }));
    const { failed } = await backend.apply(changed(...wanted), node);
    expect(failed.map(({ key }) => key).sort()).toEqual([a!.key, c!.key]);
    expect(kernel.lines).toEqual(await fresh(a!, wanted[1]!, c!));
    // The verdict on the Service is the warning.
    expect(logger.at('warn')).toEqual([]);
    expect(logger.at('debug').length).toBeGreaterThan(0);
  });

  it('keeps at a start what an earlier process left', async () => {
    await backend.start([a!, b!], node);
    const before = new Map(kernel.lines);
    kernel.refuse = refusing(['s1'], 'named');
    // Something else is in its place, so that it is written.
    const moved = sample('s1', { number: 1, endpoints: 1 });
    const { failed } = await open().start([moved, b!], node);
    expect(failed.map(({ key }) => key)).toEqual([a!.key]);
    expect(kernel.lines).toEqual(before);
  });

  it('costs the others nothing but a read', async () => {
    await backend.start([a!, b!], node);
    kernel.reads = 0;
    kernel.refuse = refusing(['s3'], 'named');
    await backend.apply(changed(c!), node);
    expect(kernel.reads).toBe(2);
    kernel.refuse = () => undefined;
    await backend.apply(changed(c!), node);
    expect(kernel.reads).toBe(2);
  });
});

describe('a service port that cannot be compiled', () => {
  const good = sample('good', { number: 1 });
  const broken = sample('broken', { number: 2 });

  it('is reported, and stops no other', async () => {
    const { failed } = await backend.start([broken, good], node);
    expect(failed).toEqual([
      { key: broken.key, reason: 'cannot be compiled: a name that no rule may have', limitedBy: 'node' },
    ]);
    expect(kernel.lines).toEqual(await fresh(good));
  });

  it('keeps what an earlier process left', async () => {
    kernel.lines.set('10.96.77.2:80', `${labelOf('broken')}10.0.0.1`);
    await backend.start([broken, good], node);
    expect(kernel.lines.get('10.96.77.2:80')).toBe(`${labelOf('broken')}10.0.0.1`);
  });
});

it('hands over the only rules that it kept, once their service port is known', async () => {
  const one = sample('one', { number: 1 });
  await backend.start([one], node);
  const next = open();
  await next.start([], node, { keepUnexplained: true });
  expect(kernel.lines).toEqual(await fresh(one));
  const moved = sample('one', { number: 2 });
  await next.apply(changed(moved), node);
  expect(kernel.lines).toEqual(await fresh(moved));
});

it('forgets the rules that it kept without an explanation when it starts again', async () => {
  const one = sample('one', { number: 1 });
  await backend.start([one], node);
  const next = open();
  await next.start([], node, { keepUnexplained: true });
  expect(next.mayKeep(one.name)).toBe(true);
  await next.start([], node);
  expect([next.mayKeep(one.name), kernel.lines.size]).toEqual([false, 0]);
});

it('writes for the node of the last start or change', async () => {
  const nodes: NodeNetwork[] = [];
  const own = new Reconciler(
    MEMORY,
    new (class extends MemoryDriver {
      override commit(change: Parameters<MemoryDriver['commit']>[0], given?: NodeNetwork) {
        nodes.push(given!);
        return super.commit(change);
      }
    })(kernel),
    logger,
  );
  const [one, two, bad] = [1, 2, 3].map((number) => sample(`s${number}`, { number })) as [
    ForwardingEntry,
    ForwardingEntry,
    ForwardingEntry,
  ];
  const [other, third] = [{ ...node }, { ...node }];
  await own.start([one], node);
  kernel.refuse = refusing(['s3'], 'anonymous');
  await own.start([one, two, bad], other);
  expect(nodes.length).toBeGreaterThan(0);
  expect(nodes.every((given) => given === other)).toBe(true);
  nodes.length = 0;
  await own.apply([...changed(one), ...changed(bad)], third);
  expect(nodes.length).toBeGreaterThan(1);
  expect(nodes.every((given) => given === third)).toBe(true);
});

it('tells after a start which frontends of an earlier process are gone', async () => {
  const [a, b] = [sample('a', { number: 1 }), sample('b', { number: 2 })];
  await backend.start([a, b], node);
  expect(await open().start([a], node)).toMatchObject({ lost: [{ address: '10.96.77.2', port: 80 }] });
  expect(await open().start([a], node)).toMatchObject({ lost: [] });
});

it('tells which frontends are gone of a service port that the start could not program, when it is programmed', async () => {
  const [a, b, moved] = [sample('a', { number: 1 }), sample('b', { number: 2 }), sample('b', { number: 3 })];
  await backend.start([a, b], node);
  kernel.refuse = (_key, value) => (value.startsWith(labelOf('b')) ? 'named' : undefined);
  const next = open();
  expect(await next.start([a, moved], node)).toMatchObject({ failed: [{ key: moved.key }], lost: [] });
  expect(await next.apply([...changed(a), ...changed(moved)], node)).not.toHaveProperty('lost');
  kernel.refuse = () => undefined;
  expect(await next.apply(changed(a), node)).not.toHaveProperty('lost');
  expect(await next.apply(changed(moved), node)).toMatchObject({
    lost: [{ address: '10.96.77.2', port: 80 }],
  });
  expect(await next.apply(changed(moved), node)).not.toHaveProperty('lost');
});

it('passes on what the driver says of service ports, after a start and a change', async () => {
  const [a, slow] = [sample('a', { number: 1 }), sample('slow', { number: 2 })];
  const notes = [{ key: slow.key, note: 'slower than asked for' }];
  expect(await backend.start([a, slow], node)).toMatchObject({ notes });
  expect(await backend.apply(changed(slow), node)).toMatchObject({ notes });
  expect((await backend.apply(changed(a), node)).notes ?? []).toEqual([]);
});

describe('verifying', () => {
  beforeEach(async () => {
    await backend.start([sample('a', { number: 1 })], node);
    kernel.reads = 0;
  });

  it('reads nothing while no program writes', async () => {
    expect(await backend.verify('quick')).toMatchObject({ compared: false, watched: true, written: 0 });
    expect(kernel.reads).toBe(0);
  });

  it('repairs what another program wrote, once', async () => {
    kernel.tamper((lines) => lines.clear());
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 1 });
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
  });

  it('compares whatever the signs say when it is to be full', async () => {
    kernel.lines.clear();
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
    expect(await backend.verify('full')).toMatchObject({ compared: true, written: 1 });
  });

  it.each([false, true])(
    'compares what a start only recognized, and removes what should not be there (%s)',
    async (isPartial) => {
      class Recognizing extends MemoryDriver {
        override async read(options: ReadOptions = {}) {
          const snapshot = await super.read(options);
          if (!options.mayRecognize) return snapshot;
          const known = new Map([...kernel.lines].filter(([key]) => this.desired.lines.heldPart(key)));
          return { ...snapshot, isPartial, repair: () => this.repair(known) };
        }
      }
      kernel.tamper((lines) => lines.set('192.0.2.1:80', 'contract/old:main: '));
      const later = new Reconciler(MEMORY, new Recognizing(kernel), logger);
      expect(await later.start([sample('a', { number: 1 })], node)).toMatchObject({ written: 0 });
      expect(await later.verify('quick')).toMatchObject({ compared: isPartial, written: isPartial ? 1 : 0 });
      expect(kernel.lines.has('192.0.2.1:80')).toBe(!isPartial);
      expect(await later.verify('quick')).toMatchObject({ compared: false });
    },
  );

  it('knows of nothing by which to tell where there is no sign', async () => {
    kernel.epoch = undefined;
    expect(await backend.verify('quick')).toMatchObject({ compared: false, watched: false });
  });

  it('trusts no sign after a write failed, until everything was compared', async () => {
    kernel.refuse = () => {
      throw new Error('no connection');
    };
    await expect(backend.apply(changed(sample('b', { number: 2 })), node)).rejects.toThrow('no connection');
    kernel.refuse = () => undefined;
    expect(await backend.verify('quick')).toMatchObject({ compared: true });
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
  });

  it('ends with the reason of the signal', async () => {
    const reason = new Error('a change');
    await expect(backend.verify('full', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
