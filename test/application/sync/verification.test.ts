import { Bench, keyOf } from './bench.js';

const verifications = (bench: Bench) => bench.calls().filter((call) => ['quick', 'full'].includes(call));

describe('a verification that fails', () => {
  it('is tried again after 1, 2, 4 … s, is told, and each second again once it succeeds', async () => {
    const bench = await new Bench().begin('a');
    bench.calls();
    bench.backend.failure = new Error('out of memory');
    await bench.clock.advanceAsync(16_000);
    expect(verifications(bench)).toHaveLength(5);
    expect(bench.observer.unverified.get('IPv4')).toBe('out of memory');
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(16_000);
    expect(bench.observer.unverified.size).toBe(0);
    expect(bench.logger.lines.at(-1)).toMatchObject({ message: 'the rules can be verified again' });
    verifications(bench);
    await bench.clock.advanceAsync(3000);
    expect(verifications(bench)).toHaveLength(3);
  });

  it('once is told once, and so is the next one, which succeeds', async () => {
    const bench = await new Bench().begin('a');
    bench.logger.clear();
    bench.backend.failure = new Error('out of memory');
    await bench.clock.advanceAsync(1_000);
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(5_000);
    const told = bench.logger.lines.filter(({ message }) => message.includes('verif'));
    expect(told.map(({ level, message, facts }) => [level, message, facts.attempt])).toEqual([
      ['error', 'cannot verify the rules; will retry', 1],
      ['info', 'the rules can be verified again', undefined],
    ]);
  });
});

describe('a repair', () => {
  const told = async (retriedDeletes: boolean, written = 2) => {
    const bench = await new Bench().begin('a');
    bench.backend.findings.push({ compared: true, written, retriedDeletes });
    await bench.clock.advanceAsync(1000);
    return [
      bench.logger.lines.at(-1)?.message,
      bench.observer.calls.filter((call) => call.startsWith('repaired')),
    ];
  };

  it('is told as what another program made necessary', async () => {
    expect(await told(false)).toEqual([
      'another program changed the rules; repaired them',
      ['repaired IPv4 2'],
    ]);
    expect((await told(false, 1)).at(1)).toEqual(['repaired IPv4 1']);
    expect((await told(false, 0)).at(1)).toEqual([]);
  });

  it('blames nobody where something could not be removed before', async () => {
    expect(await told(true)).toEqual(['repaired the rules: completed a removal that had failed', []]);
  });
});

describe('between syncs', () => {
  it('the loop verifies quickly each second and fully each sync period, and reads the node again', async () => {
    const bench = await new Bench({ syncPeriod: 5000 }).begin('a');
    bench.calls();
    await bench.clock.advanceAsync(999);
    expect(bench.calls()).toEqual([]);
    await bench.clock.advanceAsync(1);
    expect(bench.calls()).toEqual(['quick']);
    await bench.clock.advanceAsync(3999);
    expect(bench.calls()).toEqual(['quick', 'quick', 'quick']);
    expect(bench.refreshes).toEqual([true]);
    await bench.clock.advanceAsync(1);
    expect(bench.calls()).toEqual(['full', 'apply']);
    expect(bench.refreshes).toEqual([true, true]);
    await bench.clock.advanceAsync(5000);
    expect(verifications(bench)).toEqual(['quick', 'quick', 'quick', 'quick', 'full']);
  });

  describe('where a comparison takes more than a twentieth of the sync period', () => {
    const HOUR = 3_600_000;
    const SLOW = 2000;

    /** It began a comparison a sync period after the start, which took long. */
    async function begunSlowly(watched = true): Promise<Bench> {
      const bench = await new Bench({ syncPeriod: 30_000 }).begin('a');
      bench.backend.watched = watched;
      await bench.clock.advanceAsync(29_000);
      const release = bench.backend.hold();
      await bench.clock.advanceAsync(1000 + SLOW);
      release();
      await bench.settle();
      expect(verifications(bench).slice(-2)).toEqual(['quick', 'full']);
      return bench;
    }

    it('only signs make it compare, but for once an hour', async () => {
      const bench = await begunSlowly();
      await bench.clock.advanceAsync(HOUR - 1000);
      expect(verifications(bench)).not.toContain('full');
      await bench.clock.advanceAsync(2000);
      expect(verifications(bench)).toContain('full');
    });

    it('where nothing shows writes of others, it compares as often as a twentieth of the time allows', async () => {
      const bench = await begunSlowly(false);
      await bench.clock.advanceAsync(20 * SLOW - 1000);
      expect(verifications(bench)).not.toContain('full');
      await bench.clock.advanceAsync(1000);
      expect(verifications(bench)).toContain('full');
    });

    it('it goes on verifying quickly each second after it', async () => {
      const bench = await begunSlowly();
      await bench.clock.advanceAsync(3000);
      expect(verifications(bench)).toEqual(['quick', 'quick', 'quick']);
    });

    it('one that was interrupted is not begun again before it had its share of the time', async () => {
      const bench = await begunSlowly();
      await bench.clock.advanceAsync(HOUR - 1000);
      const release = bench.backend.hold();
      await bench.clock.advanceAsync(2000);
      expect(verifications(bench).at(-1)).toBe('full');
      bench.change('a');
      release();
      await bench.settle();
      await bench.clock.advanceAsync(15_000);
      expect(new Set(verifications(bench))).toEqual(new Set(['quick']));
      await bench.clock.advanceAsync(10_000);
      expect(verifications(bench)).toContain('full');
    });
  });

  it('everything is compared once an hour also where the sync period is longer', async () => {
    const bench = await new Bench({ syncPeriod: 10 * 3_600_000 }).begin('a');
    await bench.clock.advanceAsync(3_599_000);
    expect(verifications(bench)).not.toContain('full');
    await bench.clock.advanceAsync(1000);
    expect(verifications(bench)).toEqual(['full']);
  });

  it('quick verifications become rarer while another program writes without harm, and then as before', async () => {
    const bench = await new Bench({ syncPeriod: 30_000 }).begin('a');
    const harmless = { compared: true, written: 0 };
    bench.backend.findings.push(harmless, harmless, harmless, harmless, { compared: false, written: 0 });
    bench.calls();
    for (const delay of [1000, 2000, 3000, 3000, 3000, 1000, 1000]) {
      await bench.clock.advanceAsync(delay - 1);
      expect(verifications(bench)).toEqual([]);
      await bench.clock.advanceAsync(1);
      expect(verifications(bench)).toEqual(['quick']);
    }
  });

  it('other periods count at once, also for a verification that was delayed', async () => {
    const bench = await new Bench({ syncPeriod: 3_600_000 }).begin('a');
    const harmless = { compared: true, written: 0 };
    bench.backend.findings.push(harmless, harmless, harmless);
    for (const delay of [1000, 2000, 4000]) await bench.clock.advanceAsync(delay);
    bench.calls();
    bench.loop.use({ syncPeriod: 5000, minSyncPeriod: 500 });
    await bench.clock.advanceAsync(1000);
    expect(verifications(bench)).toEqual(['full']);
    bench.change('a');
    await bench.settle();
    bench.change('a');
    bench.calls();
    await bench.clock.advanceAsync(499);
    expect(bench.calls()).toEqual([]);
    await bench.clock.advanceAsync(1);
    expect(bench.calls()).toEqual(['apply a']);
  });

  it('other periods leave one verification at a time', async () => {
    const bench = await new Bench({ syncPeriod: 30_000 }).begin('a');
    for (const syncPeriod of [5000, 10_000]) bench.loop.use({ syncPeriod, minSyncPeriod: 500 });
    bench.calls();
    await bench.clock.advanceAsync(1000);
    expect(verifications(bench)).toEqual(['quick']);
  });

  it('what a verification repairs is reported', async () => {
    const bench = await new Bench().begin('a');
    bench.backend.findings.push({ compared: true, written: 3 });
    bench.observer.take();
    await bench.clock.advanceAsync(1000);
    expect(bench.observer.calls).toEqual(['repaired IPv4 3']);
    expect(bench.logger.at('warn')).toHaveLength(1);
    bench.calls();
    await bench.clock.advanceAsync(1000);
    expect(verifications(bench)).toEqual(['quick']);
  });

  it('what a verification cannot repair is reported, and tried again after its backoff', async () => {
    const bench = await new Bench().begin('a', 'b');
    bench.backend.poisoned.set(keyOf('a'), 'EINVAL');
    bench.backend.findings.push({
      compared: true,
      written: 1,
      failed: [{ key: keyOf('a'), reason: 'EINVAL' }],
    });
    bench.calls();
    await bench.clock.advanceAsync(1000);
    expect(bench.calls()).toEqual(['quick']);
    expect(bench.statuses.failures('IPv4')).toMatchObject([{ servicePort: keyOf('a'), reason: 'EINVAL' }]);
    bench.backend.poisoned.clear();
    await bench.clock.advanceAsync(1000);
    expect(bench.calls()).toContain('apply a');
    expect(bench.statuses.failures('IPv4')).toEqual([]);
  });

  it('a verification that fails is reported and tried again', async () => {
    const bench = await new Bench().begin('a');
    bench.backend.failure = new Error('no answer');
    bench.calls();
    await bench.clock.advanceAsync(1000);
    expect(bench.logger.at('error')).toHaveLength(1);
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(1000);
    expect(bench.calls()).toEqual(['quick', 'quick']);
    expect(bench.loop.inSync).toBe(true);
  });

  it('a change interrupts a verification, which is not an error', async () => {
    const bench = await new Bench().begin('a');
    bench.calls();
    const release = bench.backend.hold();
    await bench.clock.advanceAsync(1000);
    bench.change('a');
    release();
    await bench.settle();
    expect(bench.calls()).toEqual(['quick', 'apply a']);
    expect(bench.logger.at('error')).toEqual([]);
    await bench.clock.advanceAsync(1000);
    expect(bench.calls()).toEqual(['quick']);
  });

  it('an interrupted comparison is made up for, and carried through when it was delayed for long', async () => {
    const bench = await new Bench({ syncPeriod: 5000 }).begin('a');
    const comparisons: boolean[] = [];
    for (let second = 0; second < 30; second++) {
      const release = bench.backend.hold();
      await bench.clock.advanceAsync(1000);
      const comparing = bench.calls().at(-1) === 'full';
      const findings = bench.backend.findings.length;
      bench.backend.findings.push({ compared: true });
      bench.change('a');
      release();
      await bench.settle();
      if (comparing) comparisons.push(bench.backend.findings.length === findings);
      bench.backend.findings.length = 0;
    }
    expect(comparisons).toContain(true);
    expect(comparisons.indexOf(true)).toBeGreaterThan(0);
    expect(bench.logger.at('error')).toEqual([]);
  });

  it('verifies on request, again after a change that interrupts it, and reports failures', async () => {
    const bench = await new Bench().begin('a');
    bench.calls();
    const release = bench.backend.hold();
    bench.backend.findings.push({ compared: true, written: 2 });
    const inspected = bench.loop.verifyNow();
    await bench.settle();
    bench.change('a');
    release();
    expect(await inspected).toBeUndefined();
    await bench.settle();
    expect(bench.calls()).toEqual(['quick', 'apply a', 'quick']);
    expect(bench.observer.calls).toContain('repaired IPv4 2');
    expect(await bench.loop.verifyNow()).toBeUndefined();
    expect(bench.calls()).toEqual(['quick', 'full']);
    bench.backend.watched = true;
    expect(await bench.loop.verifyNow()).toBeUndefined();
    expect(bench.calls()).toEqual(['quick']);
    bench.backend.failure = new Error('no answer');
    expect(await bench.loop.verifyNow()).toBe('no answer');
    await bench.loop.stop();
    expect(await bench.loop.verifyNow()).toBe('the proxy is stopping');
  });

  it('verifies nothing on request after a sync that failed: what it did not write is no damage by others', async () => {
    const bench = await new Bench().begin('a');
    bench.backend.failure = new Error('out of memory');
    bench.change('a');
    await bench.settle();
    bench.backend.failure = undefined;
    bench.calls();
    expect(await bench.loop.verifyNow()).toBe('the last sync failed');
    expect(bench.calls()).toEqual([]);
    await bench.clock.advanceAsync(1000);
    expect(await bench.loop.verifyNow()).toBeUndefined();
  });

  it('syncs and verifications never overlap', async () => {
    const bench = await new Bench().begin('a');
    bench.calls();
    const release = bench.backend.hold();
    await bench.clock.advanceAsync(1000);
    bench.change('a');
    await bench.clock.advanceAsync(500);
    expect(bench.calls()).toEqual(['quick']);
    release();
    await bench.settle();
    expect(bench.calls()).toEqual(['apply a']);
    await bench.clock.advanceAsync(1000);
    expect(bench.calls()).toEqual(['quick']);
  });

  it('changes that never cease do not keep it from verifying', async () => {
    const bench = await new Bench({ syncPeriod: 5000 }).begin('a');
    bench.calls();
    for (let i = 0; i < 24; i++) {
      bench.change('a');
      await bench.clock.advanceAsync(500);
    }
    const seen = verifications(bench);
    expect(seen.filter((call) => call === 'quick').length).toBeGreaterThanOrEqual(8);
    expect(seen.filter((call) => call === 'full')).toHaveLength(2);
  });
});
