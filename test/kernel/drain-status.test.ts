import { stringify } from 'yaml';
import type { NodeDrain } from '../../src/diagnostics/domain/drain.js';
import { Command, type Ended } from '../support/program/command.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { serviceObjects, testConfig, testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askTimes, Backend, OpenConnection } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const CLUSTER_IP = { what: 'http', dst: '172.30.20.51', port: 80 } as const;
const NODE_PORT = { what: 'http', dst: '198.51.100.11', port: 30181 } as const;
const [ENDS, STAYS] = ['10.244.1.11', '10.244.1.12'];

let testbed: Testbed;
let proxy: ProxyProcess;
let ends: Backend;
let stays: Backend;

/** @param isTerminating whether the first endpoint terminates */
function objects(isTerminating: boolean): string {
  const [service, slice] = serviceObjects({
    ...{ name: 'web', clusterIP: CLUSTER_IP.dst, endpoints: [ENDS, STAYS] },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: NODE_PORT.port }],
  });
  const [first, second] = slice['endpoints'] as readonly object[];
  const conditions = { ready: !isTerminating, serving: true, terminating: isTerminating };
  return [testNode, testServiceCidr, service, { ...slice, endpoints: [{ ...first, conditions }, second] }]
    .map((object) => stringify(object))
    .join('---\n');
}

beforeAll(async () => {
  testbed = await Testbed.open();
  ends = await Backend.start(testbed, 'ends', ENDS);
  stays = await Backend.start(testbed, 'stays', STAYS);
});
afterAll(() => testbed?.close());
afterEach(() => proxy?.remove());

const drainStatus = (...args: readonly string[]): Promise<Ended> =>
  Command.run(testbed.node, ['drain-status', ...args]);

async function answerOf(...args: readonly string[]): Promise<NodeDrain> {
  return JSON.parse((await drainStatus(...args, '-o', 'json')).stdout) as NodeDrain;
}

async function metric(): Promise<string | undefined> {
  const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics', 10_000);
  return /^kube_proxy_ts_terminating_endpoint_connections\{ip_family="IPv4"\} (.*)$/m.exec(body)?.[1];
}

it.each(['nftables', 'iptables'] as const)(
  'real connections to an endpoint that terminates are counted until they end, in %s mode',
  async (mode) => {
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode,
      config: testConfig,
      objects: objects(false),
    });
    const opened: OpenConnection[] = [];
    for (let i = 0; i < 8; i++) {
      opened.push(await OpenConnection.open(testbed.pod, CLUSTER_IP));
      opened.push(await OpenConnection.open(testbed.ext, NODE_PORT));
    }
    const bodies = await Promise.all(opened.map(async (one) => (await one.ask()).body));
    const count = bodies.filter((body) => body === ends.name).length;
    expect(count).toBeGreaterThan(0);

    expect(await answerOf(ENDS!)).toMatchObject({
      node: 'node1',
      addresses: [ENDS],
      endpoints: [{ address: ENDS, port: 8080, inUse: true, openConnections: count }],
    });
    expect((await answerOf()).endpoints).toEqual([]);
    expect(await metric()).toBe('0');

    await proxy.change(objects(true));
    const { endpoints } = await answerOf();
    expect(endpoints).toMatchObject([
      { ...{ address: ENDS, services: ['default/web:http'] }, inUse: false, openConnections: count },
    ]);
    expect(Date.parse(endpoints[0]!.terminatingSinceTime!)).toBeGreaterThan(Date.now() - 600_000);
    expect(await metric()).toBe(String(count));
    // Connections stay with it, new ones do not go there.
    expect(new Set(await askTimes(4, testbed.pod, CLUSTER_IP))).toEqual(new Set([stays.name]));
    expect(await drainStatus(ENDS!, '--wait', '--timeout', '1s')).toMatchObject({ exitCode: 1 });

    const waiting = drainStatus('--wait', '--timeout', '1h');
    await ends.kill();
    expect(await waiting).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/ {2}safe\nno connection through this node leads there\n$/),
    });
    await until('the metric is 0', async () => (await metric()) === '0');
    await ends.startAgain();
  },
);

it('a mode that carries connections itself reports that it sees none', async () => {
  proxy = await ProxyProcess.start({
    ...{ host: testbed.node, mode: 'userspace', config: testConfig, objects: objects(true) },
  });
  expect(await answerOf()).toMatchObject({
    endpoints: [{ inUse: false }],
    unseenReason: 'in userspace mode the proxy itself carries connections',
  });
  expect(await drainStatus()).toMatchObject({ exitCode: 1 });
  expect(await metric()).toBeUndefined();
});
