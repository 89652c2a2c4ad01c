import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { endpointPlace } from '../../src/domain/model/endpoint.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryConntrack } from '../../src/testing/fakes/memory-conntrack.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../src/testing/fakes/recording-backend.js';
import { parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import type { OpenMode } from '../../src/bootstrap/modes/mode.js';
import { EmbeddedProxy } from '../../src/bootstrap/embedding.js';
import type { ProxyParts } from '../../src/bootstrap/parts.js';
import { composeProxy } from '../../src/bootstrap/proxy.js';
import { StandInApiServer } from '../support/api-server/api-server.js';
import { writeKubeconfig } from '../support/api-server/kubeconfig.js';
import type { ApiObject } from '../support/api-server/object-store.js';
import { RELEASES } from '../support/api-server/release.js';

/** The program as it is put together, but for the kernel, the servers and the time: an API server, and a backend in memory. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let api: StandInApiServer;
let clock: FakeClock;
let logger: MemoryLogger;
let backend: RecordingBackend;
let proxy: EmbeddedProxy | undefined;
let parts: ProxyParts;

beforeEach(async () => {
  api = await StandInApiServer.start();
  clock = new FakeClock(Date.now());
  logger = new MemoryLogger();
  backend = new RecordingBackend('IPv4');
  proxy = undefined;
});
afterEach(async () => {
  await letPass(0);
  const stopped = proxy?.stop();
  await letPass(SECOND);
  await stopped;
  await api.close();
});

async function start(...flags: string[]): Promise<EmbeddedProxy> {
  const args = ['--kubeconfig', await writeKubeconfig(api), '--hostname-override', 'node1', ...flags];
  const commandLine = parseCommandLine(['--proxy-mode', 'nftables', ...args], {
    readFile: () => '',
    hostname: () => 'host',
  });
  const mode: OpenMode = {
    name: 'nftables',
    families: ['IPv4'],
    means: {},
    backend: () => backend,
    close: () => Promise.resolve(),
  };
  parts = composeProxy(commandLine, mode, logger, {
    clock: () => clock,
    conntrack: () => new MemoryConntrack(),
    localAddresses: () => ({ list: () => ['127.0.0.1', '192.0.2.4', '192.0.2.5'] }),
    healthServer: () => undefined,
    metricsServer: () => undefined,
  });
  proxy = new EmbeddedProxy(parts);
  await proxy.start();
  return proxy;
}

/** Lets so much time pass, in steps, with moments in between in which what is on its way over sockets arrives. */
async function letPass(milliseconds: number): Promise<void> {
  const end = clock.now() + milliseconds;
  do {
    await clock.advanceAsync(Math.min(SECOND, end - clock.now()));
    await new Promise((resolve) => setTimeout(resolve, 2));
  } while (clock.now() < end);
}

/**
 * Lets time pass until the condition holds; fails when it does not within so much of it. A busy machine takes its time over a
 * handshake, whatever the clock says: it has a second at least.
 */
async function until(condition: () => boolean, milliseconds = MINUTE): Promise<void> {
  const end = clock.now() + milliseconds;
  const step = 250;
  const pause = Math.max(8, (1000 * step) / milliseconds);
  while (!condition()) {
    if (clock.now() >= end) throw new Error(`did not come to hold: ${condition.toString()}`);
    await letPass(step);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The calls that write, since the last take. */
const syncs = () => backend.take();
const programmed = (): string[] => [...backend.programmed.keys()].map((key) => key.split('/')[1]!).sort();
const endpoints = (name: string): string[] =>
  backend.programmed.get(`default/${name}/tcp/`)?.endpoints.reachable.map(endpointPlace) ?? [];

function node(addresses: readonly string[], podCIDRs: readonly string[] = ['10.244.1.0/24']): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node1' },
    spec: { podCIDRs },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  };
}

function putService(number: number, endpoint = number): void {
  const name = `web-${number}`;
  api.put({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { clusterIP: `172.30.0.${number}`, ports: [{ port: 80 }] },
  });
  api.put({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [`10.244.0.${endpoint}`] }],
    ports: [{ name: '', port: 8080 }],
  });
}

/** Both kinds that clusters keep of endpoints. */
function putServiceWithEndpoints(number: number): void {
  putService(number);
  api.put({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: `web-${number}` },
    subsets: [{ addresses: [{ ip: `10.244.0.${number}` }], ports: [{ port: 8080 }] }],
  });
}

function putHeadlessService(name: string): void {
  const spec = { clusterIP: 'None', clusterIPs: ['None'], ports: [{ port: 80 }] };
  api.put({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
}

function removeService(number: number): void {
  api.remove('v1', 'Service', { name: `web-${number}` });
  api.remove('discovery.k8s.io/v1', 'EndpointSlice', { name: `web-${number}` });
}

async function startServing(...numbers: readonly number[]): Promise<void> {
  api.put(node(['192.0.2.4']));
  for (const number of numbers) putService(number);
  await start();
  await until(() => programmed().length === numbers.length && api.openWatches === 4);
}

describe('the API server', () => {
  it.each([
    ['remembers', false],
    ['does not remember', true],
  ])(
    'goes down for a minute, changes, and %s: nothing is lost, and the rules converge',
    async (_, forgets) => {
      await startServing(1, 2, 3);
      backend.take();
      await api.close();
      await letPass(MINUTE);
      expect([programmed(), backend.take().filter(({ keys }) => keys.length > 0)]).toEqual([
        ['web-1', 'web-2', 'web-3'],
        [],
      ]);
      removeService(1);
      putService(2, 20);
      putService(4);
      if (forgets) api.compact();
      await api.open();
      // The longest pause between two tries, and what the clock advances while a busy machine shakes hands.
      await until(() => String(programmed()) === 'web-2,web-3,web-4', 2 * MINUTE);
      await until(() => endpoints('web-2')[0] === '10.244.0.20:8080', 2 * MINUTE);
      // What stayed as it was has not been touched.
      expect(backend.take().flatMap(({ keys }) => keys)).not.toContain('default/web-3/tcp/');
      const lists = api
        .requestsOf('watch', '/api/v1/services')
        .filter(({ query }) => query.sendInitialEvents === 'true');
      expect(lists).toHaveLength(forgets ? 2 : 1);
    },
  );

  it('is read as soon as there are credentials; meanwhile readiness and health report the reason', async () => {
    const kubeconfig = await writeKubeconfig(api, { tokenFile: 'token' });
    const token = join(dirname(kubeconfig), 'token');
    api.put(node(['192.0.2.4']));
    putService(1);
    await start('--kubeconfig', kubeconfig);
    const missing = `cannot obtain the credentials (ENOENT: no such file or directory, open '${token}')`;
    const reported = () => [
      parts.readiness.verdict().checks.find(({ name }) => name === 'watches')?.reason,
      parts.health.verdict().stale.find(({ kind }) => kind === 'Service')?.reason,
    ];
    await until(() => reported().every((reason) => reason?.includes(missing)));
    expect(parts.readiness.verdict().ready).toBe(false);
    await letPass(10 * SECOND);
    expect(programmed()).toEqual([]);
    await writeFile(token, 'stand-in-token');
    await until(() => parts.readiness.verdict().ready);
    expect([programmed(), ...reported()]).toEqual([['web-1'], undefined, undefined]);
  });

  it.each(RELEASES)(
    'of Kubernetes %s: its Services are programmed, and changes followed',
    async (version) => {
      api.version = version;
      api.put(node(['192.0.2.4']));
      for (const number of [1, 2]) putServiceWithEndpoints(number);
      putHeadlessService('headless');
      await start();
      await until(() => String(programmed()) === 'web-1,web-2');
      putHeadlessService('late-headless');
      putServiceWithEndpoints(3);
      removeService(1);
      await until(() => String(programmed()) === 'web-2,web-3' && endpoints('web-3').length === 1);
      expect([endpoints('web-2'), endpoints('web-3')]).toEqual([['10.244.0.2:8080'], ['10.244.0.3:8080']]);
      expect(
        logger.lines.filter(({ level, message }) => level !== 'debug' && /API server failed/.test(message)),
      ).toEqual([]);
    },
  );

  it('is upgraded release by release, and downgraded again: every change arrives, and nothing else changes', async () => {
    api.version = RELEASES[0];
    api.put(node(['192.0.2.4']));
    putServiceWithEndpoints(1);
    await start();
    await until(() => String(programmed()) === 'web-1');
    let number = 1;
    for (const version of [...RELEASES.slice(1), ...RELEASES.toReversed()]) {
      backend.take();
      api.version = version;
      api.disconnectWatches();
      putHeadlessService(`headless-${++number}`);
      putServiceWithEndpoints(number);
      await until(() => endpoints(`web-${number}`)[0] === `10.244.0.${number}:8080`, 5 * MINUTE);
      // A resource that was absent is requested again within ten minutes.
      await letPass(number === 2 ? 11 * MINUTE : MINUTE / 2);
      expect(programmed()).toHaveLength(number);
      expect(endpoints('web-1')).toEqual(['10.244.0.1:8080']);
      // Where another kind has the endpoints, all are compared.
      const isSameKind = version !== '1.20' && number > 2;
      const changed = new Set(backend.take().flatMap(({ keys }) => keys));
      if (isSameKind) expect(changed).toEqual(new Set([`default/web-${number}/tcp/`]));
    }
  });

  it('does not get asked ever faster while it is down', async () => {
    await startServing(1);
    logger.clear();
    await api.close();
    await letPass(5 * MINUTE);
    const failures = logger.lines.filter(({ message }) => message.startsWith('request to the API server'));
    expect(failures.length).toBeGreaterThan(20);
    expect(failures.length).toBeLessThan(100);
    await api.open();
    await until(() => api.openWatches === 4, 65 * SECOND);
    // Once it is back for a while, a break is nothing but a break.
    await letPass(2 * SECOND);
    api.disconnectWatches();
    putService(2);
    await until(() => programmed().includes('web-2'), 2 * SECOND);
  });

  it('lets its watches hang: that is noticed, and what was missed arrives', async () => {
    await startServing(1);
    api.hangWatches();
    putService(2);
    await letPass(1.5 * MINUTE);
    expect(programmed()).toEqual(['web-1']);
    await until(() => programmed().includes('web-2'), 1.5 * MINUTE);
    expect(logger.lines.some(({ facts }) => /hangs/.test(String(facts.error)))).toBe(true);
  });

  it('is asked no faster than clientConnection allows', async () => {
    api.put(node(['192.0.2.4']));
    putService(1);
    await start('--kube-api-qps', '1', '--kube-api-burst', '1');
    // Four lists: the rules must wait for three seconds.
    await letPass(SECOND);
    expect([api.requests.length <= 3, programmed()]).toEqual([true, []]);
    await until(() => programmed().length === 1 && api.openWatches === 4);
  });
});

describe("this node's Node object", () => {
  it('is waited for: nothing is programmed before its address is known', async () => {
    putService(1);
    await start();
    await letPass(20 * SECOND);
    expect(syncs()).toEqual([]);
    api.put(node([]));
    await letPass(2 * SECOND);
    expect(syncs()).toEqual([]);
    api.put(node(['192.0.2.4']));
    await until(() => programmed().length === 1);
    expect(backend.node?.nodePortIPs).toEqual(['192.0.2.4']);
  });

  it('is not waited for without end: after 30 s services work, and its address is followed when it comes', async () => {
    putService(1);
    await start();
    await until(() => programmed().length === 1, 31 * SECOND);
    expect(backend.node?.nodePortIPs).toBe('all');
    expect(logger.at('error').map(({ facts }) => facts.problem)).toContain('the Node object does not exist');
    api.put(node(['192.0.2.4']));
    await until(() => backend.node?.nodePortIPs !== 'all');
    expect(backend.node?.nodePortIPs).toEqual(['192.0.2.4']);
  });

  it('changes its address and its podCIDRs: the rules follow', async () => {
    api.put(node(['192.0.2.4']));
    putService(1);
    await start('--detect-local-mode', 'NodeCIDR');
    await until(() => programmed().length === 1);
    const detected = () =>
      (backend.node?.detector as { cidr?: { address: string } } | undefined)?.cidr?.address;
    expect([backend.node?.nodePortIPs, detected()]).toEqual([['192.0.2.4'], '10.244.1.0']);
    api.put(node(['192.0.2.5'], ['10.244.7.0/24']));
    await until(() => detected() === '10.244.7.0');
    expect(backend.node?.nodePortIPs).toEqual(['192.0.2.5']);
    // It is registered anew, and for a while has neither.
    api.remove('v1', 'Node', { name: 'node1' });
    api.put(node([], []));
    await letPass(5 * SECOND);
    expect([backend.node?.nodePortIPs, detected()]).toEqual([['192.0.2.5'], '10.244.7.0']);
  });

  it('gets no podCIDR where local traffic is told by it: the program gives up after five minutes', async () => {
    api.put(node(['192.0.2.4'], []));
    putService(1);
    const { failure } = await start('--detect-local-mode', 'NodeCIDR');
    let reason = '';
    failure.catch((error: Error) => (reason = error.message));
    // The five minutes begin with the first list of the Node, for which a busy machine takes its time.
    await until(() => logger.lines.some(({ message }) => message.startsWith('waiting for the podCIDRs')));
    await letPass(4 * MINUTE + 50 * SECOND);
    expect(reason).toBe('');
    await until(() => reason !== '', 15 * SECOND);
    expect(reason).toBe('timeout waiting for PodCIDR allocation on node "node1"');
    expect(syncs()).toEqual([]);
  });

  it('does not go with the configuration: the program ends and says why', async () => {
    api.put(node(['192.0.2.4']));
    const { failure } = await start('--cluster-cidr', 'fd00::/48');
    const ended = expect(failure).rejects.toThrow(
      'kube-proxy configuration is incorrect: cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses',
    );
    await letPass(2 * SECOND);
    await ended;
  });

  it('is of a family that this machine cannot serve: the program ends and says why', async () => {
    api.put(node(['fd00::4']));
    const { failure } = await start();
    const ended = expect(failure).rejects.toThrow('no support for primary IP family "IPv6"');
    await letPass(2 * SECOND);
    await ended;
  });
});

it('a service port that cannot be programmed is an event of its Service', async () => {
  backend.poisoned.set('default/web-1/tcp/', 'the kernel rejected it');
  await startServingPoisoned();
  await until(() => api.objects('events.k8s.io/v1', 'Event').length > 0);
  expect(api.objects('events.k8s.io/v1', 'Event')).toMatchObject([
    {
      metadata: { namespace: 'default', name: expect.stringMatching(/^web-1\.[0-9a-f]+$/) },
      reportingController: 'kube-proxy',
      reportingInstance: expect.stringMatching(/^kube-proxy-./),
      regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'web-1' },
      type: 'Warning',
      reason: 'ProgrammingFailed',
      action: 'SyncProxyRules',
      note: 'node node1, tcp/ (IPv4): it cannot be programmed on the node: the kernel rejected it; check the proxy of the node: kubeproxy status',
    },
  ]);
  // Further tries fail for the same reason: the event is a series.
  await until(() => api.objects('events.k8s.io/v1', 'Event')[0]!.series !== undefined, 10 * MINUTE);
  expect(api.objects('events.k8s.io/v1', 'Event')).toHaveLength(1);
});

async function startServingPoisoned(): Promise<void> {
  api.put(node(['192.0.2.4']));
  putService(1);
  putService(2);
  await start();
  await until(() => programmed().includes('web-2'));
}
