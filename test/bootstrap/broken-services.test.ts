import { explain } from '../../src/diagnostics/adapters/cli/commands/explain.js';
import { services } from '../../src/diagnostics/adapters/cli/commands/services.js';
import { status } from '../../src/diagnostics/adapters/cli/commands/status.js';
import type { Explanation } from '../../src/diagnostics/application/explain/explanation.js';
import type { ServiceList } from '../../src/diagnostics/application/status/service-row.js';
import type { ProxyStatus } from '../../src/diagnostics/application/status/proxy-status.js';
import { debugRoutes } from '../../src/diagnostics/bootstrap/debug-routes.js';
import type { EndpointAnswers } from '../../src/application/traffic/endpoint-answers.js';
import { parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import { EmbeddedProxy } from '../../src/bootstrap/embedding.js';
import type { OpenMode } from '../../src/bootstrap/modes/mode.js';
import type { ProxyParts } from '../../src/bootstrap/parts.js';
import { composeProxy } from '../../src/bootstrap/proxy.js';
import { scrapeGauges } from '../../src/bootstrap/servers.js';
import { CAUSES, type Cause, type Verdict } from '../../src/domain/verdict/verdict.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryConntrack } from '../../src/testing/fakes/memory-conntrack.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../src/testing/fakes/recording-backend.js';
import { StandInApiServer } from '../support/api-server/api-server.js';
import type { ContainerCommand, Executed } from '../support/api-server/container-commands.js';
import { putNodes } from '../support/api-server/simulated-nodes.js';
import { NO_TERMINAL, PLUGIN } from '../../src/adapters/cli/reader.js';
import { queryCluster } from '../../src/diagnostics/adapters/cli/cluster/query-cluster.js';
import { thisVersion } from '../../src/bootstrap/version.js';
import { writeKubeconfig } from '../support/api-server/kubeconfig.js';
import {
  BROKEN_NODE,
  BROKEN_SERVICES,
  brokenObjects,
  type BrokenService,
} from '../support/broken-services.js';
import { parseCommand } from '../support/command-line.js';
import { Served } from '../support/http/served.js';
import { usePrinted } from '../support/program/use-printed.js';

/*
 * Twenty broken Services, and some that only look like it, as everything shows them: the whole program but for the kernel, with an API
 * server. A change is judged once, and commands, debug routes, events, metrics and logs show the same.
 */

const printed = usePrinted();
const UNRESPONSIVE = '10.244.2.16:8080';
let api: StandInApiServer;
let pluginApi: StandInApiServer;
let pluginKubeconfig: string;
let clock: FakeClock;
let logger: MemoryLogger;
let proxy: EmbeddedProxy;
let parts: ProxyParts;
let served: Served;

beforeAll(async () => {
  api = await StandInApiServer.start();
  for (const object of [BROKEN_NODE, ...brokenObjects()]) api.put(object);
  clock = new FakeClock(Date.now());
  logger = new MemoryLogger();
  const backend = new RecordingBackend('IPv4');
  backend.poisoned.set('shop/rejected/tcp/http', 'the kernel rejects it');
  const mode: OpenMode = {
    name: 'nftables',
    families: ['IPv4'],
    means: {},
    isEmbedded: true,
    backend: () => backend,
    close: () => Promise.resolve(),
  };
  const args = ['--kubeconfig', await writeKubeconfig(api), '--hostname-override', 'n1'];
  const commandLine = parseCommandLine(['--proxy-mode', 'nftables', ...args], {
    readFile: () => '',
    hostname: () => 'host',
  });
  parts = composeProxy(commandLine, mode, logger, {
    clock: () => clock,
    conntrack: () => new MemoryConntrack(),
    localAddresses: () => ({ list: () => ['127.0.0.1', '192.0.2.4'] }),
    forwardingObstacles: () => undefined,
    healthServer: () => undefined,
    metricsServer: () => undefined,
    endpointAnswers: () => answersOf(UNRESPONSIVE),
  });
  proxy = new EmbeddedProxy(parts);
  await proxy.start();
  served = await Served.start(debugRoutes(parts, clock.now()));
  pluginApi = await StandInApiServer.start();
  pluginApi.clusterRole = undefined;
  putNodes(pluginApi, [{ name: 'n1' }, { name: 'n2' }]);
  pluginApi.containers.run = runInPod;
  pluginKubeconfig = await writeKubeconfig(pluginApi);
  await until(() => backend.programmed.size > 0 && parts.served.every(({ loop }) => loop.inSync));
  await letPass(1_000);
});

afterAll(async () => {
  await served.stop();
  const stopped = proxy.stop();
  await letPass(2_000);
  await stopped;
  await api.close();
  await pluginApi.close();
});

/** Connections to this endpoint get no answer. */
function answersOf(place: string): EndpointAnswers {
  const found = new Map([['IPv4 shop/unresponsive/tcp/http', new Map([[place, 0]])]]);
  const answers = {
    unresponsive: () => found,
    unanswered: () => undefined,
    open: () => undefined,
    read: () => Promise.resolve(),
  };
  return answers as unknown as EndpointAnswers;
}

async function letPass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 250) {
    await clock.advanceAsync(250);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 400) throw new Error(`did not come to hold: ${condition.toString()}`);
    await letPass(250);
  }
}

const keyOf = ({ name }: BrokenService): string => `shop/${name}`;
const ALL = BROKEN_SERVICES.map((broken) => [broken.name, broken] as const);
/** Those that are ok have no next step. */
const expectedOf = ({ expected }: BrokenService): Verdict => ({
  ...expected,
  ...(expected.state !== 'ok' && { nextStep: expected.nextStep! }),
});

const commands = { explain, services, status } as const;

function run(name: keyof typeof commands, ...args: readonly string[]): Promise<number> {
  const argv = [name, ...args, '--metrics-bind-address', served.address];
  const commandLine = parseCommand(argv, { readFile: () => '', hostname: () => 'n1' });
  return meanwhile((commands[name] as (invocation: typeof commandLine) => Promise<number>)(commandLine));
}

/** The plugin, in a cluster of two nodes like this one. */
function runPlugin(...args: readonly string[]): Promise<number> {
  const argv = [...args, '--kubeconfig', pluginKubeconfig, '--parallel', '1'];
  const files = { readFile: () => '', hostname: () => 'laptop' };
  const invocation = parseCommand(argv, files, { ...NO_TERMINAL, program: PLUGIN });
  return queryCluster(invocation, thisVersion('v1.37.0'), 60_000);
}

/** Runs a command beside the proxy, as exec does in its pod. */
async function runInPod({ command }: ContainerCommand): Promise<Executed> {
  const [, name, ...args] = command.filter((word) => !word.startsWith('--config='));
  const before = { ...printed };
  Object.assign(printed, { stdout: '', stderr: '' });
  const exitCode = await run(name as keyof typeof commands, ...args);
  const output = { ...printed };
  Object.assign(printed, before);
  return { exitCode, ...output };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function answer<Answer>(path: string): Promise<Answer> {
  return meanwhile(served.get(path).then((response) => response.json() as Promise<Answer>));
}

/** Time passes until there is a result: requests to the API server have their rate. */
async function meanwhile<Result>(work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  done.catch(() => undefined);
  while (!isDone) await letPass(250);
  return done;
}

describe.each(ALL)('%s', (_, broken) => {
  const expected = expectedOf(broken);
  const key = keyOf(broken);
  const isFound = expected.cause !== 'NotFound';

  it('is judged the same in the debug routes', async () => {
    const explanation = await answer<Explanation>(`/debug/explain?subject=${key}`);
    expect(explanation.verdict).toEqual(expected);
    const { services: rows, unknownNames } = await answer<ServiceList>(`/debug/services?name=${key}`);
    if (isFound) expect(rows).toMatchObject([{ namespace: 'shop', name: broken.name, ...expected }]);
    else expect(unknownNames).toEqual([{ name: key, reason: expected.reason }]);
  });

  it('is the first line of explain, with the next step', async () => {
    const exitCode = await run('explain', key);
    const [first, second] = printed.stdout.split('\n');
    expect(first).toBe(`${key}: ${expected.state}: ${expected.reason}`);
    if (expected.state !== 'ok') expect(second).toBe(`  next: ${expected.nextStep}`);
    expect(exitCode).toBe(expected.state === 'ok' ? 0 : 1);
  });

  it('is the same in kubectl kubeproxy, once for all nodes', async () => {
    const code = expected.state === 'ok' ? 0 : 1;
    expect(await runPlugin('explain', key)).toBe(code);
    const [first, second] = printed.stdout.split('\n');
    expect(first).toBe(`${key}: ${expected.state} on 2 of 2 nodes: ${expected.reason}`);
    if (expected.state !== 'ok') expect(second).toBe(`  next: ${expected.nextStep}`);
    printed.stdout = '';
    expect(await runPlugin('services', `service/${broken.name}`, '-n', 'shop')).toBe(code);
    if (isFound)
      expect(printed.stdout.split('\n')[1]).toMatch(
        new RegExp(`^shop +${broken.name} .* ${expected.state} +2/2 .* {2}${escaped(expected.reason)}$`),
      );
    else expect(printed.stderr).toBe(`${broken.name}: ${expected.reason}\n`);
  });

  it('of one node is the same text in kubectl kubeproxy as on the node', async () => {
    // The proxy may retry between the two.
    const answer = () => printed.stdout.replace(/\d+ attempts/, 'some attempts');
    await run('explain', key);
    const ofNode = answer();
    printed.stdout = '';
    await runPlugin('explain', key, '--node', 'n2');
    expect(answer()).toBe(ofNode);
  });

  it('is a line of services, with the reason', async () => {
    const exitCode = await run('services', key);
    if (isFound) {
      const [, row = ''] = printed.stdout.split('\n');
      expect(row).toMatch(new RegExp(`^shop +${broken.name} .* ${expected.state} `));
      expect(row.endsWith(`  ${expected.reason}`)).toBe(true);
    } else expect(printed.stderr).toBe(`${key}: ${expected.reason}\n`);
    expect(exitCode).toBe(expected.state === 'ok' ? 0 : 1);
  });
});

/** Those that the proxy knows, without being queried for, and that are not ok. */
const problems = BROKEN_SERVICES.filter(
  ({ expected: { state, cause } }) => state !== 'ok' && cause !== 'NotFound',
);
const inState = (state: string): readonly string[] =>
  problems
    .filter(({ expected }) => expected.state === state)
    .map(keyOf)
    .sort();

it('services --problems lists those that are not ok, and none else', async () => {
  expect(await run('services', '--problems', '-o', 'name')).toBe(1);
  const names = printed.stdout.trimEnd().split('\n');
  expect(names).toEqual(problems.map(({ name }) => `service/${name}`).sort());
});

it('status counts them, names the worst, and is none the worse for them', async () => {
  const { serviceCounts: counted, serviceProblems: named } = await answer<ProxyStatus>('/debug/status');
  const [error, warning] = [inState('error'), inState('warning')];
  const known = [...parts.state.serviceKeys()];
  const unserved = problems.filter((one) => !known.includes(keyOf(one)));
  expect(counted).toMatchObject({
    ok: known.length + unserved.length - problems.length,
    warning: warning.length,
    error: error.length,
  });
  expect(named.map(({ service }) => service)).toEqual(error.slice(0, 5));
  for (const { service, ...verdict } of named)
    expect(verdict).toEqual(expectedOf(problems.find((one) => keyOf(one) === service)!));
  await run('status');
  expect(printed.stdout).toContain(
    `  Services: ${counted.ok} ok, ${warning.length} warning, ${error.length} error\n    error: ${error[0]}: `,
  );
  // The port that the kernel rejects is a problem of the node, too; all else is not.
  expect(parts.nodeState.report().reasons).toEqual(['IPv4: 1 service port fails']);
});

it('metrics count the same', async () => {
  parts.metrics.onScrape(scrapeGauges(parts));
  const text = await parts.metrics.exposition();
  expect(text).toContain(`kube_proxy_ts_services{state="error"} ${inState('error').length}\n`);
  expect(text).toContain(`kube_proxy_ts_services{state="warning"} ${inState('warning').length}\n`);
});

it('the log warns of what is wrong with this node alone, with the same sentence', () => {
  const ofNode = problems.filter(
    ({ expected: { state, cause } }) =>
      state === 'error' && CAUSES[cause!] === 'node' && cause !== 'NoLocalEndpoint',
  );
  const warned = logger.lines.filter(
    ({ level, message }) => level === 'warn' && message === 'a Service does not work on this node',
  );
  expect(warned.map(({ facts }) => facts).toSorted(byService)).toEqual(
    ofNode
      .map((one) => {
        const { cause, reason, nextStep } = expectedOf(one);
        return { caller: 'service-verdicts', service: keyOf(one), cause, reason, nextStep };
      })
      .toSorted(byService),
  );
  const logged = problems.filter(
    (one) =>
      ofNode.includes(one) ||
      logger.lines.some((line) => line.level !== 'warn' && isAbout(line.facts, one.name)),
  );
  expect(logged.map(keyOf)).toEqual(problems.map(keyOf));
});

function byService(one: object, other: object): number {
  return (one as { service: string }).service < (other as { service: string }).service ? -1 : 1;
}

function isAbout(facts: object, name: string): boolean {
  return (facts as { service?: string }).service === `shop/${name}`;
}

/** An unresponsive endpoint is an event when it is ejected, and where endpoints are is none. */
const WITHOUT_EVENT: ReadonlySet<Cause | undefined> = new Set([
  'UnresponsiveEndpoint',
  'NoLocalEndpoint',
  'NotFound',
]);

it('events say the same, once a problem that all nodes have has lasted', async () => {
  await letPass(400_000);
  const events = api.objects('events.k8s.io/v1', 'Event') as unknown as readonly {
    readonly metadata: { readonly name: string };
    readonly regarding: { readonly name: string };
    readonly reason: string;
    readonly note: string;
  }[];
  for (const broken of BROKEN_SERVICES) {
    const { state, cause, reason, nextStep } = expectedOf(broken);
    const own = events.filter(({ regarding }) => regarding.name === broken.name);
    if (state === 'ok' || WITHOUT_EVENT.has(cause)) {
      expect(own).toEqual([]);
      continue;
    }
    expect(own.map((event) => event.reason)).toEqual([cause]);
    expect(own[0]!.note.endsWith(`${reason}; ${nextStep}`)).toBe(true);
    if (CAUSES[cause!] === 'cluster')
      expect(own[0]!.metadata.name).toBe(`${broken.name}.${cause!.toLowerCase()}`);
  }
});
