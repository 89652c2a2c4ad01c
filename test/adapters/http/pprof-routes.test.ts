import { Profile } from 'pprof-format';
import { Profiler, pprofRoutes } from '../../../src/adapters/http/pprof-routes.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Served } from '../../support/http/served.js';

let profiler: Profiler;
let served: Served;

beforeAll(async () => {
  profiler = new Profiler();
  await profiler.start();
  served = await Served.start(pprofRoutes(profiler));
});

afterAll(async () => {
  await served.stop();
  profiler.stop();
});

interface Read {
  readonly types: readonly string[];
  readonly period: string;
  readonly samples: readonly { readonly stack: readonly string[]; readonly values: readonly number[] }[];
  readonly profile: Profile;
}

/** A profile with its numbers turned into names. */
async function profileAt(path: string): Promise<Read> {
  const response = await served.get(path);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  const profile = Profile.decode(gunzipSync(Buffer.from(await response.arrayBuffer())));
  const text = (index: unknown): string => profile.stringTable.strings[Number(index)]!;
  const functions = new Map(profile.function.map(({ id, name }) => [Number(id), text(name)]));
  const places = new Map(
    profile.location.map(({ id, line }) => [Number(id), functions.get(Number(line[0]!.functionId))!]),
  );
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`),
    period: `${text(profile.periodType!.type)}/${text(profile.periodType!.unit)} ${profile.period}`,
    samples: profile.sample.map(({ locationId, value }) => ({
      stack: locationId.map((id) => places.get(Number(id))!),
      values: value.map(Number),
    })),
    profile,
  };
}

const kept: unknown[] = [];

describe('/debug/pprof (docs/internals/spec/server.md §9)', () => {
  it('leads to its index, which leads to the rest', async () => {
    const redirect = await served.get('/debug/pprof');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/debug/pprof/']);
    const index = await served.text('/debug/pprof/');
    for (const [, name] of index.matchAll(/href="([a-z]+)"/g))
      if (name !== 'profile') expect((await served.get(`/debug/pprof/${name}`)).status).toBe(200);
    expect((await served.get('/debug/pprof/mutex')).status).toBe(404);
  });

  it('shows where the time goes', async () => {
    let on = true;
    const numbers = Array.from({ length: 200_000 }, Math.random);
    // Node 24 does not name a loop that was running when the profile began.
    function spendTheTime(): void {
      JSON.stringify(numbers);
      if (on) setImmediate(spendTheTime);
    }
    spendTheTime();
    const { types, period, samples, profile } = await profileAt('/debug/pprof/profile?seconds=1');
    on = false;
    expect(types).toEqual(['samples/count', 'cpu/nanoseconds']);
    expect(period).toBe('cpu/nanoseconds 10000000');
    const busy = samples.filter(({ stack }) => stack.includes('spendTheTime'));
    const nanoseconds = busy.reduce((sum, { values }) => sum + values[1]!, 0);
    // A busy machine has little time for either of the two.
    expect(nanoseconds).toBeGreaterThan(0);
    expect(nanoseconds).toBeLessThan(Number(profile.durationNanos));
    expect(Number(profile.durationNanos)).toBeGreaterThan(0.9e9);
    for (const { values } of samples) expect(values[0]).toBeGreaterThan(0);
    expect(samples.flatMap(({ stack }) => stack)).not.toContain('(idle)');
    expect(Math.abs(Number(profile.timeNanos) / 1e6 - Date.now())).toBeLessThan(60_000);
  });

  it('takes one CPU profile at a time, and none for those who left', async () => {
    const taken: Promise<unknown>[] = [];
    const cpu = profiler.cpu.bind(profiler);
    profiler.cpu = (...args) => {
      const profile = cpu(...args);
      taken.push(profile.catch(() => undefined));
      return profile;
    };
    const gone = new AbortController();
    const first = served.get('/debug/pprof/profile?seconds=3600', { signal: gone.signal });
    while (taken.length === 0) await sleep(5);
    const second = await served.get('/debug/pprof/profile?seconds=1');
    expect([second.status, await second.text()]).toEqual([500, expect.stringContaining('already in use')]);
    gone.abort();
    await expect(first).rejects.toThrow();
    await Promise.all(taken);
    expect((await served.get('/debug/pprof/profile?seconds=1')).status).toBe(200);
  });

  it('shows what lives on the heap', async () => {
    function keepMuch(): void {
      for (let index = 0; index < 200; index++) kept.push(new Array<number>(20_000).fill(index));
    }
    keepMuch();
    const { types, samples } = await profileAt('/debug/pprof/heap?gc=1');
    expect(types).toEqual(['inuse_space/bytes']);
    const bytes = samples
      .filter(({ stack }) => stack.includes('keepMuch'))
      .reduce((sum, { values }) => sum + values[0]!, 0);
    expect(bytes).toBeGreaterThan(10e6);
  });

  it('shows what is under way, for people and for pprof', async () => {
    const text = await served.text('/debug/pprof/goroutine?debug=1');
    expect(text).toMatch(/^goroutine profile: total [1-9]\d*\n/);
    expect(text).toMatch(/^\d+ @\n#\tTCPServerWrap/m);
    const { types, samples } = await profileAt('/debug/pprof/goroutine');
    expect(types).toEqual(['goroutine/count']);
    expect(samples.map(({ stack }) => stack[0])).toContain('TCPServerWrap');
  });

  it('shows the command line, and has no symbols to look up', async () => {
    expect((await served.text('/debug/pprof/cmdline')).split('\0')).toEqual(process.argv);
    expect(await served.text('/debug/pprof/symbol', { method: 'POST', body: '0x1' })).toBe(
      'num_symbols: 1\n',
    );
  });
});
