import fc from 'fast-check';
import type { Backend } from '../../../src/application/ports/backend.js';
import { RejectedError } from '../../../src/application/ports/driver.js';
import { Reconciler } from '../../../src/application/reconcile/reconciler.js';
import { USUAL_LIMITS } from '../../../src/application/reconcile/recovery-attempt.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { servicePortKey } from '../../../src/domain/model/service-port-name.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MEMORY, MemoryDriver, MemoryKernel, type Refusal } from './memory-driver.js';

const node = sampleNode('IPv4');
const labelOf = ({ name }: ForwardingEntry) => `${name.namespace}/${name.name}:${name.port}: `;
const changed = (...entries: readonly ForwardingEntry[]) =>
  entries.map((entry) => ({ key: entry.key, entry }));
const keysOf = (failed: readonly { readonly key: string }[]) => failed.map(({ key }) => key).sort();

/** Service ports with three frontends each. */
const ports = (count: number, endpoints = 1) =>
  Array.from({ length: count }, (_, index) =>
    withFrontends(sampleEntry('IPv4', `s${index + 1}`, { number: index + 1, endpoints })),
  );

function withFrontends(entry: ForwardingEntry): ForwardingEntry {
  const [first] = entry.frontends;
  return { ...entry, frontends: [1, 2, 3].map((port) => ({ ...first!, port })) };
}

function renamed(entry: ForwardingEntry, port: string): ForwardingEntry {
  const name = { ...entry.name, port };
  return { ...entry, name, key: servicePortKey(name) };
}

let kernel: MemoryKernel;
let logger: MemoryLogger;
let backend: Backend;

const refuse = (entries: readonly ForwardingEntry[], refusal: Refusal) => {
  kernel.refuse = (_, value) =>
    entries.some((entry) => value.startsWith(labelOf(entry))) ? refusal : undefined;
};
const linesOf = (entry: ForwardingEntry) =>
  [...kernel.lines].filter(([, value]) => value.startsWith(labelOf(entry)));
const linesTotal = () => kernel.lines.size;

beforeEach(() => {
  kernel = new MemoryKernel();
  logger = new MemoryLogger();
  backend = new Reconciler(MEMORY, new MemoryDriver(kernel), logger);
});

describe.each(['named', 'anonymous'] as const)('a repair that is refused (%s)', (refusal) => {
  it('leaves what the kernel holds of the service port, and repairs everything else', async () => {
    const [bad, good] = ports(2);
    await backend.start([bad!, good!], node);
    const [damaged, ...left] = linesOf(bad!);
    kernel.tamper((lines) => [damaged!, ...linesOf(good!)].forEach(([key]) => lines.delete(key)));
    refuse([bad!], refusal);
    const { failed } = await backend.verify('quick');
    expect(keysOf(failed)).toEqual([bad!.key]);
    expect(logger.at('debug').map(({ facts }) => facts)).toContainEqual({
      family: 'IPv4',
      reason: failed[0]!.reason,
    });
    expect(linesOf(bad!)).toEqual(left);
    expect(linesOf(good!)).toHaveLength(3);
    kernel.refuse = () => undefined;
    expect((await backend.apply(changed(bad!), node)).failed).toEqual([]);
    expect(linesOf(bad!)).toHaveLength(3);
  });

  it('never takes anything away on the way to the one to blame', async () => {
    const all = ports(4);
    await backend.start(all, node);
    kernel.tamper((lines) => all.forEach((entry) => lines.delete(linesOf(entry)[0]![0])));
    let least = linesTotal();
    kernel.observe = (lines) => {
      expect(lines.size).toBeGreaterThanOrEqual(least);
      least = lines.size;
    };
    refuse([all[2]!], refusal);
    expect(keysOf((await backend.verify('quick')).failed)).toEqual([all[2]!.key]);
    expect(linesTotal()).toBe(11);
  });

  it('at a start leaves what an earlier process left', async () => {
    const [bad, good] = ports(2);
    await backend.start([bad!, good!], node);
    const before = linesOf(bad!);
    refuse([bad!], refusal);
    const [moved] = ports(1, 2);
    const { failed } = await new Reconciler(MEMORY, new MemoryDriver(kernel), logger).start(
      [moved!, good!],
      node,
    );
    expect(keysOf(failed)).toEqual([bad!.key]);
    expect(linesOf(bad!)).toEqual(before);
  });
});

describe('a removal that is refused', () => {
  it.each(['named', 'anonymous'] as const)(
    'is reported, and done when it is asked for again (%s)',
    async (refusal) => {
      const [gone, stays] = ports(2);
      await backend.start([gone!, stays!], node);
      const itsKeys = new Set(linesOf(gone!).map(([key]) => key));
      kernel.refuse = (key, value) => (value === '' && itsKeys.has(key) ? refusal : undefined);
      const removal = [{ key: gone!.key, entry: undefined }];
      expect(keysOf((await backend.apply(removal, node)).failed)).toEqual([gone!.key]);
      expect(linesOf(gone!)).toHaveLength(3);
      kernel.refuse = () => undefined;
      expect((await backend.apply(removal, node)).failed).toEqual([]);
      expect(linesOf(gone!)).toEqual([]);
      expect(linesOf(stays!)).toHaveLength(3);
    },
  );
});

it.each(['named', 'anonymous'] as const)(
  'a port that another one of its Service replaces stays until the kernel takes that one (%s)',
  async (refusal) => {
    const [former, other] = ports(2);
    const latter = renamed(former!, 'https');
    await backend.start([former!], node);
    refuse([latter], refusal);
    const changes = [{ key: former!.key, entry: undefined }, ...changed(latter, other!)];
    expect(keysOf((await backend.apply(changes, node)).failed)).toEqual([former!.key, latter.key].sort());
    expect(linesOf(former!)).toHaveLength(3);
    expect(linesOf(other!)).toHaveLength(3);
    kernel.refuse = () => undefined;
    expect((await backend.apply(changes, node)).failed).toEqual([]);
    expect(linesOf(former!)).toEqual([]);
    expect(linesOf(latter)).toHaveLength(3);
  },
);

it('a service port that cannot be removed in all its parts stays whole, where each part is written alone', async () => {
  const [gone, stays] = ports(2);
  kernel.writes = 'by line';
  await backend.start([gone!, stays!], node);
  const before = linesOf(gone!);
  kernel.refuse = (key, value) => (value === '' && key === before[0]![0] ? 'named' : undefined);
  const { failed } = await backend.apply([{ key: gone!.key, entry: undefined }], node);
  expect(keysOf(failed)).toEqual([gone!.key]);
  expect(linesOf(gone!).sort()).toEqual(before.sort());
});

it('what was written of a service port before the kernel rejected the rest is removed in the same round', async () => {
  const [bad, good] = ports(2);
  const moved = ports(2, 2).map((entry) => ({
    ...entry,
    frontends: entry.frontends.map(({ port, ...frontend }) => ({ ...frontend, port: port + 10 })),
  }));
  kernel.writes = 'until refused';
  await backend.start([bad!, good!], node);
  const before = linesOf(bad!).sort();
  kernel.refuse = (key, value) =>
    value.startsWith(labelOf(bad!)) && key.endsWith(':13') ? 'anonymous' : undefined;
  expect(keysOf((await backend.apply(changed(...moved), node)).failed)).toEqual([bad!.key]);
  expect(linesOf(bad!).sort()).toEqual(before);
  expect(linesOf(good!).map(([key]) => key.split(':')[1])).toEqual(['11', '12', '13']);
});

it('what could not be removed is compared again by the next quick verification, until it is gone', async () => {
  kernel.writes = 'by line';
  kernel.tamper((lines) => lines.set('192.0.2.1:80', 'somebody: '));
  kernel.refuse = (key) => (key === '192.0.2.1:80' ? 'anonymous' : undefined);
  backend = new Reconciler(MEMORY, new MemoryDriver(kernel), logger);
  await backend.start(ports(1), node);
  expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 0 });
  kernel.refuse = () => undefined;
  expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 1 });
  expect(await backend.verify('quick')).toMatchObject({ compared: false });
  expect(linesTotal()).toBe(3);
});

describe('the limits of a round', () => {
  it.each([16, 1024])('finds one cause among %i with some two commits for each halving', async (count) => {
    await backend.start(ports(count), node);
    const wanted = ports(count, 2);
    refuse([wanted[(count / 3) | 0]!], 'anonymous');
    kernel.commits = 0;
    const { failed } = await backend.apply(changed(...wanted), node);
    expect(keysOf(failed)).toEqual([wanted[(count / 3) | 0]!.key]);
    expect(failed[0]!.waits).toBeUndefined();
    // The change, the repair, and the search.
    expect(kernel.commits).toBeLessThanOrEqual(3 + 2 * Math.ceil(Math.log2(count)));
  });

  it('are kept when everything is refused; what was not tried waits', async () => {
    await backend.start(ports(256), node);
    const before = new Map(kernel.lines);
    const wanted = ports(256, 2);
    refuse(wanted, 'anonymous');
    kernel.commits = 0;
    const { failed } = await backend.apply(changed(...wanted), node);
    expect(kernel.commits).toBeLessThanOrEqual(3 + USUAL_LIMITS.commits(256));
    expect(failed).toHaveLength(256);
    const reasons = new Set(failed.map(({ waits, reason }) => `${waits === true} ${reason}`));
    expect(reasons).toEqual(new Set(['true waits for its turn after a rejection: EINVAL', 'false EINVAL']));
    expect(kernel.lines).toEqual(before);
  });

  it.each([5, 12])('are written %i times at most', async (most) => {
    const limits = { ...USUAL_LIMITS, commits: () => most, leastCommits: most };
    backend = new Reconciler(MEMORY, new MemoryDriver(kernel), logger, { limits });
    await backend.start(ports(256), node);
    refuse(ports(256), 'anonymous');
    kernel.commits = 0;
    await backend.apply(changed(...ports(256, 2)), node);
    // The change itself comes before.
    expect(kernel.commits).toBe(most + 1);
  });

  it('wait with the reason of the rejection if no further write is allowed', async () => {
    const limits = { ...USUAL_LIMITS, commits: () => 0, leastCommits: 0 };
    backend = new Reconciler(MEMORY, new MemoryDriver(kernel), logger, { limits });
    await backend.start(ports(2), node);
    refuse(ports(2), 'anonymous');
    const { failed } = await backend.apply(changed(...ports(2, 2)), node);
    expect(failed.map(({ waits, reason }) => [waits, reason])).toEqual(
      Array(2).fill([true, 'waits for its turn after a rejection: EINVAL']),
    );
  });

  it('have these limits, which grow with their number', () => {
    const { commits, ...others } = USUAL_LIMITS;
    expect([1, 3, 4, 1_023, 1_024].map(commits)).toEqual([12, 16, 20, 48, 52]);
    expect(others).toEqual({ milliseconds: 5_000, leastCommits: 8, named: 4 });
  });

  it('are kept when the kernel names one culprit after another', async () => {
    await backend.start(ports(64), node);
    const wanted = ports(64, 2);
    kernel.refuse = (key, value) => (value.includes(',') ? firstOnly(key) : undefined);
    let named: string | undefined;
    const firstOnly = (key: string): Refusal => ((named ??= key) === key ? 'named' : 'anonymous');
    const commit = kernel.observe;
    kernel.observe = (lines) => {
      commit(lines);
      named = undefined;
    };
    kernel.commits = 0;
    const { failed } = await backend.apply(changed(...wanted), node);
    expect(kernel.commits).toBeLessThanOrEqual(3 + USUAL_LIMITS.commits(64));
    expect(failed).toHaveLength(64);
    expect(failed.filter(({ waits }) => waits).length).toBeGreaterThan(0);
  });

  it('end a round that takes too long', async () => {
    let now = 0;
    backend = new Reconciler(MEMORY, new MemoryDriver(kernel), logger, { now: () => now });
    await backend.start(ports(64), node);
    kernel.observe = () => (now += USUAL_LIMITS.milliseconds / 3);
    refuse([ports(64)[5]!], 'anonymous');
    kernel.commits = 0;
    const { failed } = await backend.apply(changed(...ports(64, 2)), node);
    expect(kernel.commits).toBe(1 + USUAL_LIMITS.leastCommits);
    expect(failed.every(({ waits }) => waits)).toBe(true);
  });

  it('end a round that is aborted, which leaves what it has not tried as it was', async () => {
    await backend.start(ports(64), node);
    const stop = new AbortController();
    kernel.observe = () => {
      if (kernel.commits === 3) stop.abort();
    };
    refuse([ports(64)[5]!], 'anonymous');
    kernel.commits = 0;
    const { failed } = await backend.apply(changed(...ports(64, 2)), node, stop.signal);
    expect(kernel.commits).toBe(3);
    expect(failed).toHaveLength(64);
    expect(linesTotal()).toBe(64 * 3);
  });

  it('let everything else through within some rounds, however many are to blame', async () => {
    await backend.start([], node);
    const all = ports(200);
    refuse(
      all.filter((_, index) => index % 10 === 0),
      'anonymous',
    );
    let left = all;
    const blamed = new Set<string>();
    for (let round = 0; round < 20 && left.length > 0; round++) {
      const { failed } = await backend.apply(changed(...left), node);
      for (const { key, waits } of failed) if (!waits) blamed.add(key);
      left = all.filter(({ key }) => failed.some((each) => each.key === key && each.waits));
    }
    expect(blamed.size).toBe(20);
    expect(linesTotal()).toBe(180 * 3);
  });
});

describe('a refusal that is nobody’s', () => {
  it('fails the call as a whole when those that it names have nothing left to give up', async () => {
    const [one] = ports(1);
    const driver = new MemoryDriver(kernel);
    let repairs = 0;
    driver.repair = () => {
      repairs++;
      return Promise.reject(
        new RejectedError(new Error('EINVAL'), new Map(), ['default/nobody/tcp/'], false),
      );
    };
    backend = new Reconciler(MEMORY, driver, logger);
    await expect(backend.start([one!], node)).rejects.toThrow('EINVAL');
    expect(repairs).toBeLessThanOrEqual(2);
  });

  it('is no refusal at all when its content is not the cause', async () => {
    const all = ports(8);
    await backend.start(all, node);
    const before = new Map(kernel.lines);
    kernel.outage = new Error('out of memory');
    kernel.commits = 0;
    await expect(backend.apply(changed(...ports(8, 2)), node)).rejects.toThrow('out of memory');
    expect(kernel.commits).toBe(1);
    expect(kernel.lines).toEqual(before);
  });
});

it('never loses what serves, whatever is damaged and refused, and has everything when nothing is refused', async () => {
  const all = ports(6);
  const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 5 }));
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        damaged: fc.uniqueArray(fc.integer({ min: 0, max: 17 })),
        refused: numbers,
        changing: numbers,
        refusal: fc.constantFrom<Refusal>('named', 'anonymous'),
      }),
      async ({ damaged, refused, changing, refusal }) => {
        kernel = new MemoryKernel();
        backend = new Reconciler(MEMORY, new MemoryDriver(kernel), logger);
        await backend.start(all, node);
        kernel.tamper((lines) => {
          for (const [index, key] of [...lines.keys()].entries())
            if (damaged.includes(index)) lines.delete(key);
        });
        const present = new Set(kernel.lines.keys());
        kernel.observe = (lines) => {
          for (const key of present) expect(lines.has(key)).toBe(true);
        };
        refuse(
          refused.map((index) => all[index]!),
          refusal,
        );
        const wanted = ports(6, 2);
        const { failed } = await backend.apply(changed(...changing.map((index) => wanted[index]!)), node);
        const repair = await backend.verify('full');
        const blamed = [...failed, ...repair.failed].map(({ key }) => key);
        for (const key of blamed) expect(refused.map((index) => all[index]!.key)).toContain(key);
        kernel.refuse = () => undefined;
        const final = all.map((entry, index) => (changing.includes(index) ? wanted[index]! : entry));
        expect((await backend.apply(changed(...final), node)).failed).toEqual([]);
        await backend.verify('full');
        const fresh = new MemoryKernel();
        await new Reconciler(MEMORY, new MemoryDriver(fresh), logger).start(final, node);
        expect(new Map([...kernel.lines].sort())).toEqual(new Map([...fresh.lines].sort()));
      },
    ),
    { numRuns: 40 },
  );
});

it('a new port that is rejected delays no change of another port of its Service', async () => {
  const [old, more] = [ports(1)[0]!, ports(1, 2)[0]!];
  const extra = renamed(old, 'extra');
  const frontends = extra.frontends.map((frontend) => ({ ...frontend, port: frontend.port + 10 }));
  await backend.start([old], node);
  refuse([extra], 'anonymous');
  const { failed } = await backend.apply(changed(more, { ...extra, frontends }), node);
  expect(keysOf(failed)).toEqual([extra.key]);
  expect(linesOf(more).map(([, value]) => value.split(',').length)).toEqual([2, 2, 2]);
});
