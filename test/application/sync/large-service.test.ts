import { serviceOf } from '../../../src/domain/model/service-port-name.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { Bench, START } from './bench.js';

const ports = (count: number, first = 1) =>
  Array.from({ length: count }, (_, index) => ({
    name: `p${first + index}`,
    protocol: 'TCP' as const,
    port: first + index,
    nodePort: 0,
  }));

/** What each call of the backend was about: `apply big*2000 small*1`. */
function sizes(bench: Bench): readonly string[] {
  return bench.backend.take().map(({ method, keys }) => {
    const counts = new Map<string, number>();
    for (const key of keys) {
      const name = serviceOf(key).split('/')[1]!;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [method, ...[...counts].map(([name, count]) => `${name}*${count}`)].join(' ');
  });
}

describe('a Service with very many ports', () => {
  it('is programmed at once when everything is', async () => {
    const bench = new Bench();
    bench.put('big', { ports: ports(5000) });
    await bench.begin('small');
    expect(sizes(bench)).toEqual(['start big*5000 small*1']);
    expect(bench.loop.inSync).toBe(true);
  });

  it('is programmed in portions later, and a change of another Service comes with the next one', async () => {
    const bench = await new Bench({ minSyncPeriod: 1000 }).begin('small', 'other');
    await bench.clock.advanceAsync(1000);
    sizes(bench);
    const release = bench.backend.hold();
    bench.change('big', { ports: ports(5000) });
    bench.change('other');
    await bench.settle();
    expect(sizes(bench)).toEqual(['apply big*250 other*1']);
    bench.change('small');
    release();
    expect(bench.loop.isWaiting('shop/big')).toBe(true);
    await bench.clock.advanceAsync(20);
    // Portions follow each other without the pause that is between syncs.
    const others = Array.from({ length: 18 }, () => 'apply big*250');
    expect(sizes(bench)).toEqual(['apply big*250 small*1', ...others]);
    expect([bench.loop.isWaiting('shop/big'), bench.loop.inSync]).toEqual([false, true]);
    expect(bench.backend.programmed.size).toBe(5002);
  });

  it('is not computed again for each change that comes while its portions wait', async () => {
    const bench = await new Bench().begin('small');
    bench.change('big', { ports: ports(6000) });
    const release = bench.backend.hold();
    await bench.settle();
    for (let change = 0; change < 10; change++) {
      bench.change('big', { ports: ports(6000 - change) });
      await bench.settle();
    }
    sizes(bench);
    release();
    await bench.clock.advanceAsync(30);
    // All of the last version.
    expect(sizes(bench)).toHaveLength(24);
    expect([bench.loop.isWaiting('shop/big'), bench.loop.inSync]).toEqual([false, true]);
    expect(bench.backend.programmed.size).toBe(5992);
  });

  it('delays no other Service when it loses an address while it waits', async () => {
    const bench = await new Bench().begin('small', 'other');
    const externalIPs = [parseAddress('192.0.2.99')!];
    const pods = (count: number) =>
      Array.from({ length: count }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
    bench.put('big', { externalIPs, createdAt: 9 });
    bench.setEndpoints('big', ...pods(1500));
    await bench.clock.advanceAsync(5);
    const release = bench.backend.hold();
    bench.setEndpoints('big', ...pods(1499));
    bench.change('other');
    await bench.clock.advanceAsync(5);
    bench.setEndpoints('older', '10.2.0.1');
    bench.change('older', { externalIPs, createdAt: 1 });
    sizes(bench);
    release();
    await bench.clock.advanceAsync(10);
    expect(sizes(bench)).toEqual(['apply older*1 big*1']);
    bench.change('small');
    await bench.clock.advanceAsync(10);
    expect(sizes(bench)).toEqual(['apply small*1']);
    expect(bench.loop.inSync).toBe(true);
  });

  it('waits until its last portion is programmed, and so do the times of its changes', async () => {
    const bench = await new Bench().begin('small');
    bench.change('big', { ports: ports(3000) });
    bench.loop.pending.triggered('shop/big', START - 500);
    bench.loop.pending.triggered('shop/small', START - 300);
    bench.change('small');
    const release = bench.backend.hold();
    await bench.settle();
    expect(bench.loop.isWaiting('shop/big')).toBe(true);
    release();
    await bench.clock.advanceAsync(20);
    const latencies = bench.observer.reports.slice(1).map(({ programmingLatencies }) => programmingLatencies);
    expect(latencies).toHaveLength(12);
    expect([latencies[0], latencies.slice(1).flat()]).toEqual([[0.3], [0.511]]);
  });

  it('is reached, whatever comes in between and fails', async () => {
    const bench = await new Bench().begin('small');
    bench.change('big', { ports: ports(5000) });
    const release = bench.backend.hold();
    await bench.settle();
    bench.change('big', { ports: ports(4000, 1001) });
    bench.backend.failure = new Error('no permission');
    release();
    await bench.settle();
    bench.backend.failure = undefined;
    bench.remove('small');
    await bench.clock.advanceAsync(5000);
    expect(bench.loop.inSync).toBe(true);
    expect([...bench.backend.programmed.keys()].sort()).toEqual(
      ports(4000, 1001)
        .map(({ name }) => `shop/big/tcp/${name}`)
        .sort(),
    );
    bench.remove('big');
    await bench.clock.advanceAsync(20);
    expect([bench.backend.programmed.size, bench.sync.table.size, bench.loop.inSync]).toEqual([0, 0, true]);
  });

  it('is not programmed once more after everything was, because a portion failed', async () => {
    const bench = await new Bench().begin('small');
    bench.change('big', { ports: ports(5000) });
    bench.backend.failure = new Error('no permission');
    await bench.settle();
    bench.backend.failure = undefined;
    sizes(bench);
    await bench.clock.advanceAsync(5000);
    expect(sizes(bench).filter((call) => call !== 'quick')).toEqual(['start small*1 big*5000']);
    expect(bench.loop.isWaiting('shop/big')).toBe(false);
  });

  it('does not keep a change of the node from all of it', async () => {
    const bench = await new Bench().begin('small');
    bench.change('big', { ports: ports(5000) });
    const release = bench.backend.hold();
    await bench.settle();
    sizes(bench);
    bench.moveTo('x');
    release();
    await bench.clock.advanceAsync(10);
    expect(sizes(bench)).toEqual(['apply small*1 big*5000']);
  });

  it('lets a change pass between its portions that arrives while they are programmed', async () => {
    const bench = await new Bench().begin('small');
    bench.change('big', { ports: ports(5000) });
    await bench.settle();
    expect(sizes(bench)).toEqual(['start small*1', 'apply big*250']);
    bench.change('small');
    await bench.clock.advanceAsync(1);
    expect(sizes(bench)).toEqual(['apply big*250 small*1']);
  });
});

describe('many large Services that change at once', () => {
  const names = Array.from({ length: 10 }, (_, index) => `big-${index}`);

  it('are computed in parts, each once, and a change that arrives meanwhile comes with the next part', async () => {
    const bench = new Bench();
    const endpoints = Array.from({ length: 999 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
    for (const name of names) {
      bench.put(name);
      bench.setEndpoints(name, ...endpoints);
    }
    await bench.begin('small');
    sizes(bench);
    const computed = jest.spyOn(bench.sync.table, 'updateParts');
    const calls = () => computed.mock.calls.map(([, parts]) => parts.map(({ service }) => service));
    for (const name of names) bench.change(name);
    await bench.settle();
    expect(calls()).toEqual([['shop/big-0', 'shop/big-1']]);
    bench.change('small');
    expect(bench.loop.isWaiting('shop/big-9')).toBe(true);
    await bench.clock.advanceAsync(1);
    expect(calls()[1]).toEqual(['shop/big-2', 'shop/big-3', 'shop/small']);
    await bench.clock.advanceAsync(20);
    expect(calls().flat().sort()).toEqual([...names, 'small'].map((name) => `shop/${name}`).sort());
    expect([bench.loop.inSync, bench.sync.table.size]).toEqual([true, 11]);
  });

  it('are computed in parts when they are new, too', async () => {
    const bench = await new Bench().begin('small');
    sizes(bench);
    const endpoints = Array.from({ length: 1500 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
    for (const name of names) {
      bench.put(name);
      bench.setEndpoints(name, ...endpoints);
    }
    await bench.settle();
    await bench.clock.advanceAsync(20);
    expect(sizes(bench)).toEqual(names.map((name) => `apply ${name}*1`));
    expect(bench.loop.inSync).toBe(true);
  });
});
