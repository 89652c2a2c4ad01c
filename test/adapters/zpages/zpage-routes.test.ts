import { parse } from 'yaml';
import { zpageFormat } from '../../../src/adapters/zpages/zpage-format.js';
import { unixDate, upTime, zpageRoutes } from '../../../src/adapters/zpages/zpage-routes.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { Served } from '../../support/http/served.js';

const START = Date.parse('2026-09-06T06:19:51.500Z');
const STRUCTURED = 'application/json;v=v1beta1;g=config.k8s.io';
let clock: FakeClock;
let served: Served;

beforeEach(async () => {
  clock = new FakeClock(START);
  const paths = [
    '/metrics',
    '/metrics/slis',
    '/healthz',
    '/healthz/ping',
    '/proxyMode',
    '/configz',
    '/flagz',
  ];
  const flags = () =>
    [
      ['bind-address', '0.0.0.0'],
      ['v', '2'],
    ] as const;
  served = await Served.start(
    zpageRoutes({ flags, status: { startTime: START, version: 'v1.36.0', paths } }, clock),
  );
});

afterEach(() => served.stop());

const accepting = (accept: string): RequestInit => ({ headers: { accept } });

/** The separator is not the same in each process. */
const withoutSeparators = (text: string): string =>
  text.replace(/^([A-Za-z-]+(?: [a-z]+)?)(: |:|=| )/gm, '$1|');

describe('/flagz (docs/spec/server.md §9)', () => {
  it.each(['*/*', 'text/plain', 'text/html, text/plain;q=0.5'])('is text for %s', async (accept) => {
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

describe('/statusz (docs/spec/server.md §9)', () => {
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
  const none = await Served.start(zpageRoutes({}, clock));
  expect([(await none.get('/flagz')).status, (await none.get('/statusz')).status]).toEqual([404, 404]);
  await none.stop();
});

it('no Accept header means text', () => {
  expect([zpageFormat(undefined, 'Flagz'), zpageFormat(' ', 'Flagz')]).toEqual([
    { kind: 'text' },
    { kind: 'text' },
  ]);
});

it('writes times as Unix does', () => {
  expect(unixDate(Date.parse('2024-12-31T23:59:59Z'))).toBe('Tue Dec 31 23:59:59 UTC 2024');
  expect([upTime(0), upTime(100 * 3600 + 59)]).toEqual(['0 hr 00 min 00 sec', '100 hr 00 min 59 sec']);
});
