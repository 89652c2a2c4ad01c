import { Bench, keyOf, START } from './bench.js';
import { timeText } from '../../../src/domain/model/text.js';

const status = (bench: Bench, name: string) => bench.statuses.get('IPv4', keyOf(name));

describe('a first sync that fails as a whole', () => {
  it.each([
    ['at the first service port', 0],
    ['at the second of three', 1],
  ])('%s: the table is complete all the same, and the next one programs all', async (_, looksAt) => {
    const bench = new Bench();
    const start = jest.spyOn(bench.backend, 'start').mockImplementationOnce(async (entries) => {
      let seen = 0;
      for (const { key } of entries) {
        if (seen++ < looksAt) continue;
        throw new Error(`no tools; not even for ${key}`);
      }
      return { written: 0, failed: [] };
    });
    await bench.begin('a', 'b', 'c');
    expect(bench.observer.reports).toEqual([expect.objectContaining({ ok: false })]);
    expect([...bench.sync.table.entries()].map(({ key }) => key).sort()).toEqual(['a', 'b', 'c'].map(keyOf));
    await bench.clock.advanceAsync(60_000);
    expect(start).toHaveBeenCalledTimes(2);
    expect([...bench.backend.programmed.keys()].sort()).toEqual(['a', 'b', 'c'].map(keyOf));
  });
});

describe('a service port that cannot be programmed', () => {
  async function poisoned(): Promise<Bench> {
    const bench = new Bench();
    bench.backend.poisoned.set(keyOf('b'), 'rejected by the kernel');
    await bench.begin('a', 'b', 'c');
    return bench;
  }

  it('does not stop the others, and its status says why', async () => {
    const bench = await poisoned();
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a'), keyOf('c')]);
    expect(status(bench, 'a')).toEqual({ state: 'programmed', sinceTime: timeText(START) });
    expect(status(bench, 'b')).toEqual({
      state: 'failed',
      sinceTime: timeText(START),
      reason: 'rejected by the kernel',
      attempts: 1,
    });
    expect(bench.statuses.failures('IPv4')).toEqual([
      { servicePort: keyOf('b'), reason: 'rejected by the kernel', sinceTime: timeText(START) },
    ]);
    expect(bench.statuses.failures('IPv6')).toEqual([]);
    expect(bench.observer.reports).toMatchObject([
      { ok: true, failed: [{ reason: 'rejected by the kernel' }], written: 2 },
    ]);
    expect(bench.loop.inSync).toBe(true);
    expect(bench.logger.at('error')).toEqual([]);
  });

  it('is tried again after 1, 2, 4 … s, alone, and its attempts are counted', async () => {
    const bench = await poisoned();
    bench.calls();
    const tries = () => bench.syncs().filter((call) => call !== 'apply');
    for (const [index, delay] of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries()) {
      await bench.clock.advanceAsync(delay - 1);
      expect(tries()).toEqual([]);
      await bench.clock.advanceAsync(1);
      expect(tries()).toEqual(['apply b']);
      expect(bench.sync.outcomes.attempts(keyOf('b'))).toBe(index + 2);
    }
    expect(status(bench, 'b')).toMatchObject({ state: 'failed', sinceTime: timeText(START) });
  });

  it('is tried again in one sync with others that failed with it, although syncs must be a second apart', async () => {
    const bench = new Bench({ minSyncPeriod: 1_000 });
    for (const name of ['b', 'c']) bench.backend.poisoned.set(keyOf(name), 'rejected by the kernel');
    await bench.begin('a', 'b', 'c');
    bench.calls();
    await bench.clock.advanceAsync(2_999);
    expect(bench.syncs()).toEqual(['apply b c']);
    await bench.clock.advanceAsync(1);
    expect(bench.syncs()).toEqual(['apply b c']);
    expect(['b', 'c'].map((name) => bench.sync.outcomes.attempts(keyOf(name)))).toEqual([3, 3]);
  });

  it('does not wait longer than it has failed because its Service changes often', async () => {
    const bench = await poisoned();
    await bench.clock.advanceAsync(100);
    for (const _ of [1, 2, 3, 4]) {
      bench.change('b');
      await bench.clock.advanceAsync(200);
    }
    expect(bench.sync.outcomes.attempts(keyOf('b'))).toBe(5);
    bench.backend.poisoned.clear();
    await bench.clock.advanceAsync(2_000);
    expect(status(bench, 'b')).toMatchObject({ state: 'programmed' });
  });

  it('counts as rejected by the kernel for ten seconds, or until it works', async () => {
    const bench = await poisoned();
    expect(bench.loop.rejectedPorts).toEqual([keyOf('b')]);
    await bench.clock.advanceAsync(9_999);
    expect(bench.loop.rejectedPorts).toEqual([keyOf('b')]);
    await bench.clock.advanceAsync(1);
    expect(bench.loop.rejectedPorts).toEqual([]);
    const other = await poisoned();
    other.backend.poisoned.clear();
    await other.clock.advanceAsync(1_000);
    expect(other.loop.rejectedPorts).toEqual([]);
  });

  it.each(['mode', 'node'] as const)(
    'does not count as rejected by the kernel if the %s is the limit; what the mode never serves is not tried again',
    async (limit) => {
      const bench = new Bench();
      bench.backend.poisoned.set(keyOf('b'), 'cannot be served');
      bench.backend.limits.set(keyOf('b'), limit);
      await bench.begin('a', 'b', 'c');
      expect(bench.loop.rejectedPorts).toEqual([]);
      expect(status(bench, 'b')).toMatchObject({ state: 'failed', attempts: 1, limitedBy: limit });
      await bench.clock.advanceAsync(1_000);
      expect(status(bench, 'b')).toMatchObject({ attempts: limit === 'mode' ? 1 : 2 });
      bench.backend.poisoned.clear();
      bench.change('b');
      await bench.settle();
      expect(status(bench, 'b')).toMatchObject({ state: 'programmed' });
    },
  );

  it('is programmed when it works again, and starts counting again when it fails later', async () => {
    const bench = await poisoned();
    await bench.clock.advanceAsync(1000);
    bench.backend.poisoned.clear();
    await bench.clock.advanceAsync(2000);
    expect(status(bench, 'b')).toEqual({ state: 'programmed', sinceTime: timeText(START + 3000) });
    expect(bench.statuses.failures('IPv4')).toEqual([]);
    expect([...bench.backend.programmed.keys()]).toContain(keyOf('b'));
    expect(bench.logger.at('info').map(({ message }) => message)).toContain('service port programmed');
    bench.backend.poisoned.set(keyOf('b'), 'again');
    bench.change('b');
    await bench.settle();
    expect(status(bench, 'b')).toMatchObject({ state: 'failed', attempts: 1 });
  });

  it('is not tried again once an update mended it', async () => {
    const bench = await poisoned();
    bench.backend.poisoned.clear();
    bench.change('b');
    await bench.settle();
    bench.calls();
    await bench.clock.advanceAsync(10_000);
    expect(bench.syncs()).toEqual([]);
  });

  it('that is refused its removal stays failing, is tried again, and is forgotten when it is gone', async () => {
    const bench = await new Bench().begin('a', 'b');
    bench.backend.poisoned.set(keyOf('b'), 'in use');
    bench.remove('b');
    await bench.settle();
    expect(status(bench, 'b')).toMatchObject({ state: 'failed', reason: 'in use', attempts: 1 });
    await bench.clock.advanceAsync(3000);
    expect(status(bench, 'b')).toMatchObject({ state: 'failed', attempts: 3 });
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a'), keyOf('b')]);
    bench.backend.poisoned.clear();
    await bench.clock.advanceAsync(4000);
    expect(status(bench, 'b')).toBeUndefined();
    expect(bench.statuses.failures('IPv4')).toEqual([]);
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a')]);
  });

  it('that is refused its removal is tried again together with the port that takes its place', async () => {
    const bench = await new Bench().begin('a', 'b');
    for (const key of [keyOf('b'), `${keyOf('b')}http`]) bench.backend.poisoned.set(key, 'refused');
    bench.change('b', { ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 0 }] });
    await bench.settle();
    bench.backend.take();
    await bench.clock.advanceAsync(1000);
    const retries = bench.backend.take().filter(({ method }) => method === 'apply');
    expect(retries.map(({ keys }) => keys)).toEqual([[keyOf('b'), `${keyOf('b')}http`]]);
  });

  it('that waits for its turn is tried again after a second, however often, and blamed for nothing', async () => {
    const bench = await new Bench().begin('a', 'b');
    const apply = jest.spyOn(bench.backend, 'apply').mockImplementation((changes) =>
      Promise.resolve({
        written: 0,
        failed: changes.map(({ key }) => ({ key, reason: 'not tried', waits: true as const })),
      }),
    );
    bench.change('b');
    await bench.settle();
    await bench.clock.advanceAsync(5500);
    expect(apply.mock.calls.length).toBeGreaterThanOrEqual(5);
    expect(status(bench, 'b')).toMatchObject({ state: 'failed', reason: 'not tried', attempts: 0 });
    apply.mockRestore();
    await bench.clock.advanceAsync(1500);
    expect(status(bench, 'b')).toMatchObject({ state: 'programmed' });
  });

  it('among very many leaves few lines in the log', async () => {
    const bench = new Bench();
    const names = Array.from({ length: 100 }, (_, index) => `s${index}`);
    for (const name of names) bench.backend.poisoned.set(keyOf(name), 'refused');
    await bench.begin(...names);
    expect(bench.logger.at('warn')).toEqual([]);
    expect(bench.logger.at('debug')).toContainEqual(
      expect.objectContaining({ facts: expect.objectContaining({ more: 90 }) }),
    );
  });

  it('is forgotten when it is removed', async () => {
    const bench = await poisoned();
    bench.remove('b');
    await bench.settle();
    expect(status(bench, 'b')).toBeUndefined();
    expect(bench.statuses.failures('IPv4')).toEqual([]);
    bench.calls();
    await bench.clock.advanceAsync(10_000);
    expect(bench.syncs()).toEqual([]);
  });

  it('is forgotten when it is removed while nothing can be programmed', async () => {
    const bench = await poisoned();
    bench.backend.failure = new Error('refused');
    bench.remove('b');
    bench.remove('a');
    await bench.settle();
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(1000);
    expect(bench.loop.inSync).toBe(true);
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('c')]);
    expect([status(bench, 'a'), status(bench, 'b')]).toEqual([undefined, undefined]);
    expect(bench.statuses.failures('IPv4')).toEqual([]);
  });
});

describe('a service port that fails without being changed', () => {
  const failed = [{ key: keyOf('a'), reason: 'lost' }];

  it('in a verification, gets its status, and is tried again', async () => {
    const bench = await new Bench().begin('a', 'b');
    bench.backend.findings.push({ compared: true, written: 1, failed });
    bench.calls();
    await bench.clock.advanceAsync(1000);
    expect(status(bench, 'a')).toMatchObject({ state: 'failed', reason: 'lost', attempts: 1 });
    expect(status(bench, 'b')).toEqual({ state: 'programmed', sinceTime: timeText(START) });
    await bench.clock.advanceAsync(1000);
    expect(bench.syncs()).toEqual(['apply a']);
    expect(status(bench, 'a')).toMatchObject({ state: 'programmed' });
  });

  it('over the change of another, likewise', async () => {
    const bench = await new Bench().begin('a', 'b');
    jest.spyOn(bench.backend, 'apply').mockResolvedValueOnce({ written: 1, failed });
    bench.change('b');
    await bench.settle();
    expect(status(bench, 'a')).toMatchObject({ state: 'failed', attempts: 1 });
    expect(status(bench, 'b')).toMatchObject({ state: 'programmed' });
    await bench.clock.advanceAsync(1000);
    expect(status(bench, 'a')).toMatchObject({ state: 'programmed' });
  });
});
