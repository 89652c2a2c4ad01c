import type { Handler } from '../../../../../src/adapters/http/router.js';
import type { ChangeEntry } from '../../../../../src/application/status/change-entry.js';
import type { ProxyStatus } from '../../../../../src/diagnostics/application/status/proxy-status.js';
import type { ServiceRow } from '../../../../../src/diagnostics/application/status/service-row.js';
import type { DifferenceReport } from '../../../../../src/diagnostics/application/difference/difference-report.js';
import { diff } from '../../../../../src/diagnostics/adapters/cli/commands/diff.js';
import { history } from '../../../../../src/diagnostics/adapters/cli/commands/history.js';
import { services } from '../../../../../src/diagnostics/adapters/cli/commands/services.js';
import { status } from '../../../../../src/diagnostics/adapters/cli/commands/status.js';
import { Served } from '../../../../support/http/served.js';
import { usePrinted } from '../../../../support/program/use-printed.js';
import { until } from '../../../../support/until.js';
import { parseCommand } from '../../../../support/command-line.js';

const printed = usePrinted();
let served: Served;
/** What a proxy answers at the moment. */
let rows: readonly ServiceRow[];
let changes: readonly ChangeEntry[];
let told: ProxyStatus;
let difference: DifferenceReport;
let sync: object;
/** The questions, by their paths. */
let asked: string[];

const row = (name: string, state: ServiceRow['state'] = 'ok'): ServiceRow => ({
  ...{ namespace: 'shop', name, type: 'ClusterIP', frontends: ['10.96.0.1:80/TCP'] },
  ...{ endpointCounts: { used: 1, known: 1 }, state, reason: '1 of 1 endpoint is ready' },
});
const change = (service: string, second: number): ChangeEntry => ({
  ...{ kind: 'service-port', servicePort: `${service}:http`, family: 'IPv4', result: 'programmed' },
  ...{
    time: `2026-05-04T12:00:0${second}.000Z`,
    eventTime: `2026-05-04T12:00:0${second}.000Z`,
    durationSeconds: 1,
    writtenSteps: 1,
  },
  endpointChange: { count: 1, added: 0, removed: 0, changed: 0, examples: [] },
  frontendChange: { count: 1, added: 0, removed: 0, changed: 0, examples: [] },
});
const repaired: ChangeEntry = {
  kind: 'repaired',
  family: 'IPv4',
  time: '2026-05-04T12:00:09.000Z',
  writtenSteps: 2,
};
const STATUS = {
  ...{
    state: 'ok',
    reasons: [],
    node: 'node1',
    mode: 'nftables',
    inSync: true,
    lagSeconds: 0,
    pendingReasons: [],
  },
  versions: { program: '0.1.0', nodejs: 'v20', kernel: '6.1' },
  ...{ startTime: '2026-05-04T12:00:00.000Z', time: '2026-05-04T12:00:01.000Z' },
  ...{ families: [], ignored: [], lastErrors: [] },
  serviceCounts: { ok: 2, warning: 0, error: 0 },
  serviceProblems: [],
  watches: [{ kind: 'Service', state: 'watching', connected: true, objectCount: 1, idleSeconds: 1 }],
} as const satisfies ProxyStatus;

const none = { lines: [], omitted: 0 };
const NO_DIFFERENCE: DifferenceReport = {
  mode: 'nftables',
  families: [
    { family: 'IPv4', ...none },
    { family: 'IPv6', ...none },
  ],
};
const differing = (text: string, servicePort?: string): DifferenceReport => ({
  ...NO_DIFFERENCE,
  families: [
    { family: 'IPv4', omitted: 0, lines: [{ sign: '-', text, ...(servicePort && { servicePort }) }] },
    { family: 'IPv6', ...none },
  ],
});

beforeEach(async () => {
  difference = NO_DIFFERENCE;
  [rows, changes, told, asked] = [[row('cart'), row('web')], [change('shop/cart', 1)], STATUS, []];
  sync = { idle: true, appliedEvents: 1, totalChanges: 1 };
  const answers = (answer: (question: Parameters<Handler>[0]) => object): Handler => {
    return (question, response) => {
      asked.push(question.path);
      response.end(JSON.stringify(answer(question)));
    };
  };
  served = await Served.start({
    '/debug/sync': answers(() => sync),
    '/debug/services': answers(({ parameters }) => ({
      services: rows,
      unknownNames: parameters.has('name', 'nobody') ? [{ name: 'nobody', reason: 'there is none' }] : [],
    })),
    '/debug/history': answers(() => ({ changes, total: changes.length })),
    '/debug/status': answers(() => told),
    '/debug/diff': answers(() => difference),
  });
});
afterEach(() => served.stop());

const commands = { diff, history, services, status } as const;

function run(name: keyof typeof commands, ...args: readonly string[]): Promise<number> {
  const argv = [name, '-w', ...args, '--metrics-bind-address', served.address];
  const commandLine = parseCommand(argv, { readFile: () => '', hostname: () => 'node1' });
  return (commands[name] as (asked: typeof commandLine) => Promise<number>)(commandLine);
}

const askedFor = (path: string): number => asked.filter((one) => one === path).length;
const end = (): boolean => process.emit('SIGINT');

it('shows Services that change, and asks for the list only when something may have changed', async () => {
  const watching = run('services');
  await until('nothing has changed', async () => askedFor('/debug/sync') >= 2);
  expect(askedFor('/debug/services')).toBe(1);
  rows = [row('web', 'error'), row('new')];
  sync = { idle: true, appliedEvents: 2, totalChanges: 1 };
  await until('what has changed is shown', async () => printed.stdout.split('\n').length > 6);
  end();
  expect(await watching).toBe(1);
  expect(printed.stdout).toBe(
    [
      'NAMESPACE  NAME  TYPE       ENDPOINTS  STATE  FRONTENDS         REASON',
      'shop       cart  ClusterIP  1/1        ok     10.96.0.1:80/TCP  1 of 1 endpoint is ready',
      'shop       web   ClusterIP  1/1        ok     10.96.0.1:80/TCP  1 of 1 endpoint is ready',
      'shop       web   ClusterIP  1/1        error    10.96.0.1:80/TCP  1 of 1 endpoint is ready',
      'shop       new   ClusterIP  1/1        ok       10.96.0.1:80/TCP  1 of 1 endpoint is ready',
      'shop       cart  ClusterIP  1/1        removed  10.96.0.1:80/TCP  it was removed',
      '',
    ].join('\n'),
  );
});

it.each([
  [[], 3],
  [['shop/web'], 1],
])('shows each change of the history %j once', async (names, count) => {
  const watching = run('history', ...names, '-o', 'json');
  await until('the first answer', async () => askedFor('/debug/history') >= 1);
  changes = [...changes, repaired, change('shop/web', 2)];
  sync = { idle: true, appliedEvents: 1, totalChanges: 3 };
  await until('the second one', async () => askedFor('/debug/history') >= 2 && askedFor('/debug/sync') >= 3);
  end();
  expect(await watching).toBe(0);
  const all = printed.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(all).toEqual(changes.slice(-count));
});

it('begins again with the history of a proxy that is another one', async () => {
  changes = [change('shop/cart', 1), change('shop/cart', 2)];
  const watching = run('history', '-o', 'name');
  await until('the first answer', async () => printed.stdout !== '');
  changes = [change('shop/web', 3)];
  sync = { idle: true, appliedEvents: 0, totalChanges: 1 };
  await until('the second one', async () => printed.stdout.includes('web'));
  end();
  await watching;
  expect(printed.stdout).toBe('service/cart\nservice/cart\nservice/web\n');
});

it('shows the status again when it is another one, not only because time has passed', async () => {
  const watching = run('status', '-o', 'json');
  await until('the first answer', async () => askedFor('/debug/status') >= 1);
  const [later] = STATUS.watches;
  told = { ...STATUS, time: '2026-05-04T12:00:05.000Z', watches: [{ ...later, idleSeconds: 5 }] };
  await until('nothing new', async () => askedFor('/debug/status') >= 2);
  told = { ...told, state: 'degraded', reasons: ['1 object is ignored'] };
  await until('something new', async () => printed.stdout.includes('degraded'));
  end();
  expect(await watching).toBe(1);
  const all = printed.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(all).toEqual([STATUS, told]);
});

it('shows what differs in the kernel each time that something else does, and that nothing does any more', async () => {
  const watching = run('diff');
  await until('the first answer', async () => printed.stdout !== '');
  difference = differing('chain ip kube-proxy stranger');
  await until('a difference', async () => printed.stdout.includes('stranger'));
  const before = askedFor('/debug/diff');
  await until('the same once more', async () => askedFor('/debug/diff') > before + 1);
  difference = NO_DIFFERENCE;
  await until('it is repaired', async () => printed.stdout.split('no difference').length > 3);
  difference = differing('element ip kube-proxy cluster-ips { 10.96.0.1 }', 'shop/cart:http');
  await until('another difference', async () => printed.stdout.includes('cluster-ips'));
  end();
  expect(await watching).toBe(1);
  expect(printed.stdout).toBe(
    [
      'IPv4 (nftables): no difference',
      'IPv6 (nftables): no difference',
      'IPv4 (nftables)',
      '  of no single Service',
      '    - chain ip kube-proxy stranger',
      'IPv4 (nftables): no difference',
      'IPv4 (nftables)',
      '  shop/cart:http',
      '    - element ip kube-proxy cluster-ips { 10.96.0.1 }',
      '',
    ].join('\n'),
  );
});

it('shows the differences of one port of a Service, and ends with 0 when there is none in the end', async () => {
  difference = differing('element a', 'shop/cart:http');
  const watching = run('diff', 'shop/cart:http', '-o', 'json');
  await until('the first answer', async () => printed.stdout !== '');
  difference = differing('element b', 'shop/cart:other');
  await until('the second one', async () => printed.stdout.split('\n').length > 3);
  end();
  expect(await watching).toBe(0);
  const [first] = differing('element a', 'shop/cart:http').families;
  const all = printed.stdout.trimEnd().split('\n');
  expect(all.map((line) => JSON.parse(line) as unknown)).toEqual([
    { mode: 'nftables', ...first },
    { mode: 'nftables', family: 'IPv6', ...none },
    { mode: 'nftables', family: 'IPv4', ...none },
  ]);
});

it('shows why the proxy cannot compare, which is a problem', async () => {
  const watching = run('diff');
  await until('the first answer', async () => printed.stdout !== '');
  difference = {
    ...NO_DIFFERENCE,
    families: [{ family: 'IPv4', ...none, problem: 'this mode cannot compare' }],
  };
  await until('it is not known', async () => printed.stdout.includes('not known'));
  end();
  expect(await watching).toBe(1);
  expect(printed.stdout).toMatch(/\nIPv4 \(nftables\): not known: this mode cannot compare\n$/);
});

it('tells names that no Service has', async () => {
  const watching = run('diff', 'nobody');
  await until('the first answer', async () => printed.stdout !== '');
  end();
  expect(await watching).toBe(1);
  expect(printed.stderr).toBe('nobody: there is none\n');
});
