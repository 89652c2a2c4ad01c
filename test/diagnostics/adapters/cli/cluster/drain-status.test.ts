import { queryCluster } from '../../../../../src/diagnostics/adapters/cli/cluster/query-cluster.js';
import { UnknownNodeError } from '../../../../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import { NO_TERMINAL, PLUGIN } from '../../../../../src/adapters/cli/reader.js';
import { thisVersion } from '../../../../../src/bootstrap/version.js';
import type { DrainStatus, NodeDrain, NodeEndpoint } from '../../../../../src/diagnostics/domain/drain.js';
import { StandInApiServer } from '../../../../support/api-server/api-server.js';
import type { ContainerCommand, Executed } from '../../../../support/api-server/container-commands.js';
import { writeKubeconfig } from '../../../../support/api-server/kubeconfig.js';
import { putNodes } from '../../../../support/api-server/simulated-nodes.js';
import { parseCommand } from '../../../../support/command-line.js';
import { usePrinted } from '../../../../support/program/use-printed.js';

let api: StandInApiServer;
let kubeconfig: string;
/** The arguments of the queries that nodes got. */
let queries: string[];
/** What each node answers; missing: that no connection leads to the pod. */
let answers: Record<string, (earlier: number) => Executed>;
const printed = usePrinted();

const endpoint = (parts: Partial<NodeEndpoint> = {}): NodeEndpoint => ({
  ...{ address: '10.244.1.5', port: 8080, protocol: 'TCP', pod: 'shop/cart-0', nodeName: 'node-1' },
  ...{ services: ['shop/cart:http'], openConnections: 0, inUse: false },
  ...parts,
});
const answer = (parts: Partial<NodeEndpoint> = {}, more: Partial<NodeDrain> = {}): Executed => ({
  exitCode: 0,
  stdout: JSON.stringify({ node: 'x', endpoints: [endpoint(parts)], addresses: ['10.244.1.5'], ...more }),
});

beforeEach(async () => {
  api = await StandInApiServer.start();
  api.clusterRole = undefined;
  kubeconfig = await writeKubeconfig(api);
  queries = [];
  answers = {};
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  const metadata = { namespace: 'shop', name: 'cart-0' };
  const podIPs = [{ ip: '10.244.1.5' }, { ip: 'fd00:244::5' }];
  api.put({ apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running', podIPs } });
  api.containers.run = ({ pod, command }: ContainerCommand) => {
    const node = pod.replace('kube-proxy-', '');
    const earlier = queries.filter((one) => one.startsWith(`${node}:`)).length;
    queries.push(`${node}: ${command.slice(1, command.indexOf('-o')).join(' ')}`);
    return answers[node]?.(earlier) ?? answer();
  };
});
afterEach(() => api.close());

function drainStatus(...args: readonly string[]): Promise<number> {
  const commandLine = parseCommand(
    ['drain-status', ...args, '--kubeconfig', kubeconfig],
    { readFile: () => '', hostname: () => 'laptop' },
    { ...NO_TERMINAL, program: PLUGIN },
  );
  return queryCluster(commandLine, thisVersion('v1.37.0'), 60_000);
}

it('queries every node for all addresses of a pod', async () => {
  expect(await drainStatus('pod/cart-0', '-n', 'shop')).toBe(0);
  expect(queries.sort()).toEqual([
    'node-1: drain-status 10.244.1.5 fd00:244::5',
    'node-2: drain-status 10.244.1.5 fd00:244::5',
  ]);
  expect(printed.stdout.split('\n').slice(1)).toEqual([
    '10.244.1.5:8080/TCP  shop/cart-0  node-1  -                  0     -     safe',
    'safe to stop: no connection leads there',
    '',
  ]);
});

it('lists what is left, and from which nodes', async () => {
  const terminatingSinceTime = '2026-05-04T10:00:00.000Z';
  answers = {
    'node-1': () => answer({ openConnections: 2, terminatingSinceTime }),
    'node-2': () => answer({ openConnections: 1, terminatingSinceTime }),
  };
  expect(await drainStatus('node-1', '-o', 'wide')).toBe(1);
  expect(queries[0]).toMatch(/: drain-status node\/node-1$/);
  expect(printed.stdout).toBe(
    [
      'ENDPOINT             POD          NODE    TERMINATING SINCE         OPEN  FROM                    STATE     SERVICES',
      '10.244.1.5:8080/TCP  shop/cart-0  node-1  2026-05-04T10:00:00.000Z  3     node-1 (2), node-2 (1)  draining  shop/cart:http',
      'not safe to stop: 3 open connections',
      '',
    ].join('\n'),
  );
});

it('is never safe while a node does not answer', async () => {
  answers = { 'node-2': () => ({ exitCode: 3, stderr: 'Error: no proxy answers\n' }) };
  expect(await drainStatus('shop/cart-0')).toBe(1);
  expect(printed.stdout.split('\n').slice(2)).toEqual([
    'not safe to stop: not every node is known to have no connection',
    'not reachable: node-2 (Error: no proxy answers)',
    '',
  ]);
});

it('is never safe while the nodes are not known', async () => {
  api.clusterRole = {
    allows: (_: string, path: unknown) => !JSON.stringify(path).includes('nodes'),
  } as never;
  const code = await drainStatus('shop/cart-0', '-o', 'json');
  const status = JSON.parse(printed.stdout) as DrainStatus;
  expect([code, status.safe, status.endpoints[0]!.state]).toEqual([1, false, 'unknown']);
  expect(printed.stderr).toMatch(/nodes without a proxy are not seen/);
});

it('names nodes that do not see their connections, or lead new ones there', async () => {
  answers = {
    'node-1': () => answer({}, { unseenReason: 'in userspace mode the proxy itself carries connections' }),
    'node-2': () => answer({ inUse: true }),
  };
  expect(await drainStatus('shop/cart-0')).toBe(1);
  expect(printed.stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/ node-2 \(0\) +gets new connections from node-2$/),
    'not seen: node-1 (in userspace mode the proxy itself carries connections)',
    'not safe to stop: 1 endpoint gets new connections',
    '',
  ]);
});

it('with --wait ends when the last connection has ended', async () => {
  answers = { 'node-2': (earlier) => answer({ openConnections: earlier === 0 ? 1 : 0 }) };
  expect(await drainStatus('shop/cart-0', '--wait', '--timeout', '10m')).toBe(0);
  expect(queries).toHaveLength(4);
  expect(printed.stdout).toMatch(/^safe to stop: /m);
});

it('with --wait ends with another exit code after the timeout', async () => {
  answers = { 'node-2': () => answer({ openConnections: 1 }) };
  expect(await drainStatus('shop/cart-0', '--wait', '--timeout', '1s')).toBe(1);
  expect(printed.stdout).toMatch(/^not safe to stop: 1 open connection$/m);
  answers = {
    'node-1': () => ({ exitCode: 3, stderr: 'no\n' }),
    'node-2': () => ({ exitCode: 3, stderr: 'no\n' }),
  };
  expect(await drainStatus('shop/cart-0', '--wait', '--timeout', '1s')).toBe(3);
});

it.each([
  [['node-9'], UnknownNodeError, 'node-9'],
  [['shop/none'], Error, 'there is no pod shop/none'],
])('%j does not exist', async (args, kind, message) => {
  const running = drainStatus(...args);
  await expect(running).rejects.toThrow(kind);
  await expect(running).rejects.toThrow(message);
  expect(queries).toEqual([]);
});

it.each([
  [['Cart 0'], 'drain-status takes the name of a node'],
  [['shop/cart-0', '--node', 'node-1'], 'drain-status queries all nodes; leave out --node'],
])('%j is rejected', (args, message) => {
  expect(() => drainStatus(...args)).toThrow(message);
});
