import { parse } from 'yaml';
import { componentRoutes, type Component } from '../../../src/adapters/http/component-routes.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { Served } from '../../support/http/served.js';

const START = Date.parse('2026-09-06T06:19:51.500Z');
const STRUCTURED = 'application/json;v=v1beta1;g=config.k8s.io';
let clock: FakeClock;
let served: Served;
/** The health checks that were counted. */
let checked: unknown[];
/** The verbosities that were set. */
let set: number[];

const start = (options: Partial<Component>): Promise<Served> =>
  Served.start(
    componentRoutes({
      version: 'v1.36.0',
      proxyMode: 'nftables',
      clock,
      configuration: () => ({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', mode: 'nftables' }),
      checks: { checked: (...check) => void checked.push(check) },
      ...options,
    }),
  );

beforeEach(async () => {
  clock = new FakeClock(START);
  checked = [];
  set = [];
  served = await start({
    flags: () => [
      ['bind-address', '0.0.0.0'],
      ['v', '2'],
    ],
    otherPaths: ['/metrics', '/metrics/slis'],
    setVerbosity: (verbosity) => void set.push(verbosity),
  });
});

afterEach(() => served.stop());

const accepting = (accept: string): RequestInit => ({ headers: { accept } });

/** The separator is not the same in each process. */
const withoutSeparators = (text: string): string =>
  text.replace(/^([A-Za-z-]+(?: [a-z]+)?)(: |:|=| )/gm, '$1|');

describe('/proxyMode and /configz (docs/internals/spec/server.md §9)', () => {
  it('names the mode, without a newline', async () => {
    const response = await served.get('/proxyMode');
    expect([response.status, await response.text()]).toEqual([200, 'nftables']);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('shows the configuration under its group', async () => {
    const response = await served.get('/configz');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.json()).toEqual({
      'kubeproxy.config.k8s.io': { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', mode: 'nftables' },
    });
  });
});

describe('/healthz of the metrics server (docs/internals/spec/server.md §9)', () => {
  it.each([
    ['/healthz', 'ok'],
    ['/healthz/ping', 'ok'],
    ['/healthz?verbose', '[+]ping ok\nhealthz check passed\n'],
    ['/healthz?verbose&exclude=ping', '[+]ping excluded: ok\nhealthz check passed\n'],
    [
      '/healthz?verbose=1&exclude=pong',
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "pong"\nhealthz check passed\n',
    ],
  ])('%s', async (path, text) => {
    const response = await served.get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe(text);
  });

  it('counts each check', async () => {
    await served.get('/healthz');
    await served.get('/healthz?exclude=ping');
    expect(checked).toEqual([['healthz', 'ping', true]]);
  });
});

it('/flagz has a note above its text for people, and in no other form', async () => {
  const noted = await start({ flags: () => [['v', '2']], flagsNote: 'only flags' });
  try {
    const text = await (await noted.get('/flagz')).text();
    expect(text.indexOf('\nNote: only flags\n\nv')).toBeGreaterThan(0);
    const json = await noted.get('/flagz', accepting('application/json;v=v1beta1;g=config.k8s.io;as=Flagz'));
    expect(await json.text()).not.toContain('only flags');
    expect(await (await served.get('/flagz')).text()).not.toContain('Note:');
  } finally {
    await noted.stop();
  }
});

describe('/debug/flags (docs/internals/spec/server.md §9)', () => {
  it.each(['/debug/flags', '/debug/flags/', '/debug/flags/other'])('%s lists v', async (path) => {
    const response = await served.get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(await response.text()).toContain('href="/debug/flags/v"');
  });

  it('sets the verbosity', async () => {
    const response = await served.get('/debug/flags/v', { method: 'PUT', body: '4' });
    expect([response.status, await response.text()]).toEqual([
      200,
      'successfully set klog.logging.verbosity to 4',
    ]);
    expect(set).toEqual([4]);
  });

  it.each(['', 'four', '4.5', '9'.repeat(5000)])('rejects what is not a number (%#)', async (body) => {
    expect((await served.get('/debug/flags/v', { method: 'PUT', body })).status).toBe(400);
    expect(set).toEqual([]);
  });

  it('knows no other method', async () => {
    expect((await served.get('/debug/flags/v')).status).toBe(406);
    expect((await served.get('/debug/flags/v', { method: 'POST', body: '4' })).status).toBe(406);
  });
});

describe('/flagz (docs/internals/spec/server.md §9)', () => {
  it.each([' ', '*/*', 'text/plain', 'text/html, text/plain;q=0.5'])('is text for %s', async (accept) => {
    const response = await served.get('/flagz', accepting(accept));
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const lines = (await response.text()).split('\n');
    expect(lines.slice(0, 2)).toEqual(['', 'kube-proxy flagz']);
    expect(lines[2]).toMatch(/not machine parseable/);
    expect(lines.slice(3)).toEqual([
      '',
      expect.stringMatching(/^bind-address(:|: |=| )0\.0\.0\.0$/),
      expect.stringMatching(/^v(:|: |=| )2$/),
      '',
    ]);
  });

  it('looks the same each time', async () => {
    const text = await served.text('/flagz');
    for (let time = 0; time < 10; time++) expect(await served.text('/flagz')).toBe(text);
  });

  it('is structured for those who say what it is', async () => {
    const response = await served.get('/flagz', accepting(`${STRUCTURED};as=Flagz`));
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('warning')).toBeNull();
    expect(await response.text()).toBe(
      '{"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1","metadata":{"name":"kube-proxy"},"flags":{"bind-address":"0.0.0.0","v":"2"}}',
    );
  });

  it('is YAML too, and warns those who ask for the alpha version', async () => {
    const accept = 'application/yaml;as=Flagz;v=v1alpha1;g=config.k8s.io';
    const response = await served.get('/flagz', accepting(accept));
    expect(response.headers.get('content-type')).toBe('application/yaml');
    expect(response.headers.get('warning')).toMatch(/^299 - ".*v1alpha1.*"$/);
    expect(parse(await response.text())).toMatchObject({
      kind: 'Flagz',
      apiVersion: 'config.k8s.io/v1alpha1',
      flags: { v: '2' },
    });
  });

  it.each([
    'application/json',
    `${STRUCTURED};as=Statusz`,
    'application/json;v=v2;g=config.k8s.io;as=Flagz',
    'image/png',
  ])('cannot be had as %s', async (accept) => {
    expect((await served.get('/flagz', accepting(accept))).status).toBe(406);
  });
});

describe('/statusz (docs/internals/spec/server.md §9)', () => {
  it('is text for people', async () => {
    clock.advance(3 * 3600_000 + 7 * 60_000 + 9_000);
    const text = withoutSeparators(await served.text('/statusz'));
    expect(text.split('\n').slice(4)).toEqual([
      'Started|Sun Sep  6 06:19:51 UTC 2026',
      'Up|3 hr 07 min 09 sec',
      `Go version|node ${process.version}`,
      'Binary version|1.36.0',
      'Emulation version|1.36',
      'Paths|/configz /flagz /healthz /metrics /proxyMode',
      '',
    ]);
    expect(text).toMatch(/^\nkube.proxy.statusz\nWarning/);
  });

  it('is structured for machines', async () => {
    clock.advance(61_999);
    const response = await served.get('/statusz', accepting(`${STRUCTURED};as=Statusz`));
    expect(await response.json()).toEqual({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'kube-proxy' },
      startTime: '2026-09-06T06:19:51Z',
      uptimeSeconds: 61,
      goVersion: `node ${process.version}`,
      binaryVersion: '1.36.0',
      emulationVersion: '1.36',
      paths: ['/configz', '/flagz', '/healthz', '/metrics', '/proxyMode'],
    });
  });
});

it('a page that is switched off is not there', async () => {
  const none = await start({});
  for (const path of ['/flagz', '/statusz', '/debug/flags']) expect((await none.get(path)).status).toBe(404);
  await none.stop();
});

it('writes times as Unix does', async () => {
  clock = new FakeClock(Date.parse('2024-12-31T23:59:59Z'));
  const long = await start({ otherPaths: [] });
  const lines = async () =>
    withoutSeparators(await long.text('/statusz'))
      .split('\n')
      .slice(4, 6);
  expect(await lines()).toEqual(['Started|Tue Dec 31 23:59:59 UTC 2024', 'Up|0 hr 00 min 00 sec']);
  clock.advance(100 * 3600_000 + 59_000);
  expect((await lines())[1]).toBe('Up|100 hr 00 min 59 sec');
  await long.stop();
});
