import type { Handler, Routes } from '../../../../../src/adapters/http/router.js';
import type { DifferenceReport } from '../../../../../src/diagnostics/application/difference/difference-report.js';
import type { History } from '../../../../../src/application/status/change-entry.js';
import type {
  ServiceList,
  ServiceRow,
} from '../../../../../src/diagnostics/application/status/service-row.js';
import { diff } from '../../../../../src/diagnostics/adapters/cli/commands/diff.js';
import { history } from '../../../../../src/diagnostics/adapters/cli/commands/history.js';
import { services } from '../../../../../src/diagnostics/adapters/cli/commands/services.js';
import { top } from '../../../../../src/diagnostics/adapters/cli/commands/top.js';
import { Served } from '../../../../support/http/served.js';
import { usePrinted } from '../../../../support/program/use-printed.js';
import { parseCommand } from '../../../../support/command-line.js';

const commands = { diff, history, services, top } as const;

let served: Served;
const printed = usePrinted();
let asked: string[];

const rowOf = (namespace: string, name: string, state: ServiceRow['state'] = 'ok'): ServiceRow => ({
  namespace,
  name,
  type: 'ClusterIP',
  frontends: ['10.96.0.1:80/TCP'],
  endpointCounts: { used: 1, known: 1 },
  state,
  reason: '1 of 1 endpoint is ready',
});
const known: readonly ServiceRow[] = [
  { ...rowOf('a', 'web'), portNames: ['http', 'https'] },
  { ...rowOf('a-b', 'web'), portNames: ['http'] },
  rowOf('shop', 'cart', 'error'),
  { ...rowOf('shop', 'headless'), frontends: [], cause: 'Headless' },
];
const json =
  (value: unknown): Handler =>
  (_, response) =>
    void response.end(JSON.stringify(value));

/** As a proxy answers. */
const list: Handler = ({ parameters }, response) => {
  const namespace = parameters.get('namespace');
  const names = parameters.getAll('name');
  const isIt = (name: string, row: ServiceRow): boolean =>
    [row.name, `${row.namespace}/${row.name}`].includes(name);
  const rows = known
    .filter((row) => namespace === null || row.namespace === namespace)
    .filter((row) => names.length === 0 || names.some((name) => isIt(name, row)))
    .filter(({ state }) => !parameters.has('problems') || state !== 'ok');
  const unknownNames = names
    .filter((name) => !known.some((row) => isIt(name, row)))
    .map((name) => ({ name, reason: 'there is no such Service' }));
  asked.push(...names);
  response.end(JSON.stringify({ services: rows, unknownNames } satisfies ServiceList));
};

const facts = {
  time: 0,
  durationSeconds: 1,
  omitted: 0,
  complete: true,
  readRatio: 1,
  samplingRate: 1,
  eventLosses: 0,
  trackedConnections: 1,
  bytesCounted: false,
  servicesTracked: true,
};
const port = {
  ...{ namespace: 'shop', name: 'cart', portName: '', protocol: 'TCP', family: 'IPv4' },
  ...{
    openConnections: 1,
    newConnections: 0,
    newConnectionsPerSecond: 0,
    unansweredConnections: 0,
    unresponsiveEndpoints: 0,
    endpoints: [],
  },
};

const changeOf = (servicePort: string) => ({
  ...{ kind: 'service-port', family: 'IPv4', time: 1, writtenSteps: 1, result: 'programmed' },
  ...{ eventTime: 1, durationSeconds: 0.001 },
  endpointChange: { count: 1, added: 0, removed: 0, changed: 0, examples: [] },
  frontendChange: { count: 1, added: 0, removed: 0, changed: 0, examples: [] },
  servicePort,
});

const nothing: Routes = {
  '/debug/services': list,
  '/debug/diff': json({ mode: 'nftables', families: [{ family: 'IPv4', lines: [], omitted: 0 }] }),
  '/debug/history': json({ changes: [], total: 7 }),
  '/debug/traffic': json({ ...facts, services: [] }),
};

async function run(routes: Routes, name: keyof typeof commands, ...args: readonly string[]): Promise<number> {
  await served?.stop();
  served = await Served.start(routes);
  const argv = [name, ...args, '--metrics-bind-address', served.address];
  const commandLine = parseCommand(argv, { readFile: () => '', hostname: () => 'node1' });
  return (commands[name] as (asked: typeof commandLine) => Promise<number>)(commandLine);
}

beforeEach(() => {
  asked = [];
});
afterAll(() => served.stop());

describe('a Service that does not exist', () => {
  it.each([
    ['diff', ['nosuch/x']],
    ['history', ['nosuch/x']],
    ['services', ['nosuch/x']],
    ['top', ['nosuch/x', '--once']],
  ] as const)('is said so by %s, with 1', async (name, args) => {
    expect(await run(nothing, name, ...args)).toBe(1);
    expect(printed.stderr).toBe('nosuch/x: there is no such Service\n');
  });

  it.each(['diff', 'history'] as const)('is in the JSON of %s', async (name) => {
    expect(await run(nothing, name, 'nosuch/x', '-o', 'json')).toBe(1);
    expect(JSON.parse(printed.stdout)).toMatchObject({
      unknownNames: [{ name: 'nosuch/x', reason: 'there is no such Service' }],
    });
  });

  it('is said so beside others that top shows', async () => {
    const routes = { ...nothing, '/debug/traffic': json({ ...facts, services: [port] }) };
    expect(await run(routes, 'top', 'shop/cart', 'web', 'nosuch', '--once')).toBe(1);
    expect(printed.stderr).toBe('nosuch: there is no such Service\n');
  });
});

describe('a port that no Service of the name has', () => {
  const names = [
    'web:http',
    'headless:any',
    'a/web:https',
    'a-b/web:https',
    'web:nope',
    'cart:http',
    'nosuch:http',
  ];
  it.each(Object.keys(commands) as (keyof typeof commands)[])('is said so by %s, with 1', async (name) => {
    const once = name === 'top' ? ['--once'] : [];
    expect(await run(nothing, name, ...names, ...once)).toBe(1);
    expect(printed.stderr.split('\n').filter(Boolean).sort()).toEqual([
      'a-b/web:https: it has no port named https (it has: http)',
      'cart:http: it has no port named http (its only port has no name)',
      'nosuch: there is no such Service',
      'web:nope: it has no port named nope (it has: http, https)',
    ]);
    printed.stderr = '';
    expect(await run(nothing, name, 'web:https', 'a/web:http', ...once)).toBe(0);
    expect(printed.stderr).toBe('');
  });

  it('is not said of one of which a change is remembered', async () => {
    const changes = [changeOf('a/web:former'), changeOf('shop/gone:http')];
    const routes = { ...nothing, '/debug/history': json({ changes, total: 2 }) };
    expect(await run(routes, 'history', 'web:former', 'shop/gone', 'web:http')).toBe(0);
    expect(printed.stderr).toBe('');
  });
});

it('names are said to be unknown beside one of which there is something to say', async () => {
  const lines = [{ sign: '-', text: 'element', servicePort: 'a/web:http' }];
  const routes = {
    ...nothing,
    '/debug/diff': json({ mode: 'nftables', families: [{ family: 'IPv4', lines, omitted: 0 }] }),
    '/debug/history': json({ changes: [changeOf('a/web:http')], total: 1 }),
  };
  for (const name of ['diff', 'history'] as const) {
    printed.stderr = '';
    expect(await run(routes, name, 'a/web', 'nosuch/x')).toBe(1);
    expect(printed.stderr).toBe('nosuch/x: there is no such Service\n');
  }
});

it.each([
  ['diff', ['shop/cart']],
  ['history', ['shop/cart']],
  ['history', []],
  ['diff', []],
  ['top', ['--once']],
  ['top', ['cart', '-n', 'shop', '--once']],
  ['services', ['-n', 'a', '--problems']],
] as const)('%s %j is content when there is nothing to say of what exists', async (name, args) => {
  expect(await run(nothing, name, ...args)).toBe(0);
  expect(printed.stderr).toBe('');
});

it.each([
  ['services', ['-n', 'nosuch']],
  ['services', ['-n', 'nosuch', '--problems']],
  ['top', ['-n', 'nosuch', '--once']],
] as const)('%s %j says that no Service of the namespace is known, with 1', async (name, args) => {
  expect(await run(nothing, name, ...args)).toBe(1);
  expect(printed.stderr).toMatch(/^nosuch: no proxied Service is in this namespace; .*\n$/);
});

it.each(Object.keys(commands) as (keyof typeof commands)[])(
  '%s takes no more names than fit into one request',
  async (name) => {
    const names = Array.from({ length: 1_500 }, (_, index) => `absent-${index}`);
    await expect(run(nothing, name, ...names)).rejects.toThrow('takes at most 8000 characters of names');
  },
);

describe('a name without a namespace', () => {
  const line = (servicePort: string) => ({ sign: '-', text: `element of ${servicePort}`, servicePort });
  const lines = ['a/web:http', 'a/web:https', 'a-b/web:http', 'shop/cart'].map(line);
  const rules: Handler = ({ parameters }, response) => {
    const wanted = parameters.getAll('service');
    const isWanted = ({ servicePort }: (typeof lines)[number]): boolean =>
      wanted.length === 0 || wanted.includes(servicePort.split(':', 1)[0]!);
    response.end(
      JSON.stringify({
        mode: 'nftables',
        families: [{ family: 'IPv4', lines: lines.filter(isWanted), omitted: 0 }],
      }),
    );
  };
  const changes = ['a/web:http', 'a/web:https', 'a-b/web:http'].map(changeOf);
  const routes = { ...nothing, '/debug/diff': rules, '/debug/history': json({ changes, total: 3 }) };

  it.each([
    [['web'], ['a-b/web:http', 'a/web:http', 'a/web:https']],
    [['web:http'], ['a-b/web:http', 'a/web:http']],
    [
      ['web', '-n', 'a'],
      ['a/web:http', 'a/web:https'],
    ],
    [
      ['a/web:https', 'cart'],
      ['a/web:https', 'shop/cart'],
    ],
    [[], lines.map(({ servicePort }) => servicePort)],
  ])('is that of each namespace: diff %j', async (args, expected) => {
    expect(await run(routes, 'diff', ...args, '-o', 'json')).toBe(1);
    const [family] = (JSON.parse(printed.stdout) as DifferenceReport).families;
    expect(family!.lines.map(({ servicePort }) => servicePort).sort()).toEqual([...expected].sort());
  });

  it.each([
    [['web:http'], ['a/web:http', 'a-b/web:http']],
    [
      ['web', '-n', 'a'],
      ['a/web:http', 'a/web:https'],
    ],
  ])('is that of each namespace: history %j', async (args, expected) => {
    expect(await run(routes, 'history', ...args, '-o', 'json')).toBe(0);
    const { changes: shown } = JSON.parse(printed.stdout) as History;
    expect(shown.map((one) => 'servicePort' in one && one.servicePort)).toEqual(expected);
  });

  it.each(['diff', 'history'] as const)('is not taken for all by %s where there is none', async (name) => {
    expect(await run(routes, name, 'nosuch', '-o', 'json')).toBe(1);
    expect(printed.stdout).not.toMatch(/web|cart/);
    expect(printed.stderr).toBe('nosuch: there is no such Service\n');
  });
});

it('does not mistake another server for a proxy', async () => {
  const routes = Object.fromEntries(Object.keys(nothing).map((path) => [path, json({ items: [] })]));
  for (const name of Object.keys(commands) as (keyof typeof commands)[]) {
    await expect(run(routes, name)).rejects.toMatchObject({ name: 'QueryError' });
    await served.stop();
  }
});
