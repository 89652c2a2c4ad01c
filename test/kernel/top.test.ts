import type { EndpointReport, PortReport, TrafficReport } from '../../src/diagnostics/domain/traffic.js';
import { Command } from '../support/program/command.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { openBy, portOf, RunningTop } from '../support/program/running-top.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { Packets } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';
import { Backend, OpenConnection, askTimes } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const web = { what: 'http', dst: '172.30.20.1', port: 80 } as const;
const webNodePort = { what: 'http', dst: '198.51.100.11', port: 30180 } as const;
const echo = { what: 'udp', dst: '172.30.20.1', port: 81 } as const;
const MUTE = '10.244.1.99';
const mute: Packets = { dst: '172.30.20.2', proto: 'tcp', port: 80, n: 5 };

const tcp = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;
const udp = { name: 'echo', protocol: 'UDP', port: 81, targetPort: 8080 } as const;
const objects = clusterObjects([
  {
    name: 'web',
    clusterIP: web.dst,
    ports: [{ ...tcp, nodePort: webNodePort.port }, udp],
    endpoints: ['10.244.1.11', '10.244.1.12'],
  },
  { name: 'mute', clusterIP: mute.dst, ports: [tcp], endpoints: [MUTE] },
  { name: 'idle', clusterIP: '172.30.20.3', ports: [tcp], endpoints: ['10.244.1.11'] },
]);

let testbed: Testbed;
let proxy: ProxyProcess;
let first: Backend;
let second: Backend;

beforeAll(async () => {
  testbed = await Testbed.open();
  await testbed.node.run(['sysctl', '-qw', 'net.netfilter.nf_conntrack_acct=1']);
  first = await Backend.start(testbed, 'first', '10.244.1.11');
  second = await Backend.start(testbed, 'second', '10.244.1.12');
  proxy = await ProxyProcess.start({
    host: testbed.node,
    config: testConfig,
    objects,
  });
});
afterAll(async () => {
  await proxy?.remove();
  await testbed.close();
});

async function once(...args: readonly string[]): Promise<TrafficReport> {
  const { exitCode, stdout, stderr } = await Command.run(testbed.node, [
    ...['top', '--once', '-o', 'json'],
    ...args,
  ]);
  if (stderr !== '') throw new Error(`top ended with ${exitCode}: ${stderr}`);
  const report = JSON.parse(stdout) as TrafficReport;
  expect(exitCode).toBe(
    report.services.some(({ unresponsiveEndpoints }) => unresponsiveEndpoints > 0) ? 1 : 0,
  );
  return report;
}

function endpoint(port: PortReport | undefined, address: string): EndpointReport | undefined {
  return port?.endpoints.find((row) => row.address === address);
}

it('hears nothing while nobody watches', async () => {
  const listeners = async (): Promise<number> => {
    const table = await testbed.node.run(['cat', '/proc/net/netlink']);
    const groups = table.split('\n').map((line) => line.trim().split(/\s+/));
    // The protocol is NETLINK_NETFILTER, the groups are those of events of connections.
    return groups.filter(([, protocol, , mask]) => protocol === '12' && mask === '00000007').length;
  };
  expect(await listeners()).toBe(0);
  const top = await RunningTop.start(testbed.node);
  expect(await listeners()).toBe(1);
  await top.stop();
  await until('the listener is gone', async () => (await listeners()) === 0);
});

it('counts what a load opens, begins, transfers and closes, by service port and endpoint', async () => {
  const top = await RunningTop.start(testbed.node);
  const opened: OpenConnection[] = [];
  for (let i = 0; i < 8; i++) opened.push(await OpenConnection.open(testbed.pod, web));
  for (let i = 0; i < 3; i++) opened.push(await OpenConnection.open(testbed.ext, webNodePort));
  const names = await Promise.all(opened.map(async (connection) => (await connection.ask()).body));
  const answeredBy = (name: string): number => names.filter((body) => body === name).length;
  await askTimes(20, testbed.pod, web);
  await askTimes(7, testbed.ext, webNodePort);
  await askTimes(5, testbed.pod, echo);

  await until('all connections are counted', async () => top.sum('newConnections', 'web', 'http') >= 38);
  await until('closed ones are', async () => portOf(top.last, 'web', 'http')?.openConnections === 11);
  await until('datagrams are', async () => top.sum('newConnections', 'web', 'echo') >= 5);
  const report = top.last;
  const http = portOf(report, 'web', 'http');
  expect(openBy(http)).toEqual({
    [first.address]: answeredBy('first'),
    [second.address]: answeredBy('second'),
  });
  expect(portOf(report, 'web', 'echo')).toMatchObject({
    protocol: 'UDP',
    openConnections: 5,
    unansweredConnections: 0,
  });
  expect(top.sum('newConnections', 'web', 'http')).toBe(38);
  expect(top.sum('unansweredConnections', 'web', 'http')).toBe(0);
  // An answer with its headers, each way in packets with headers of their own.
  await until('bytes are counted', async () => top.sum('bytes', 'web', 'http') > 38 * 500);
  expect(report).toMatchObject({ samplingRate: 1, eventLosses: 0, bytesCounted: true });
  expect(await top.stop()).toBe(0);

  // The next one did not see them begin.
  const later = await once('-n', 'default', 'web');
  expect(openBy(portOf(later, 'web', 'http'))).toEqual(openBy(http));
  expect(portOf(later, 'web', 'http')).toMatchObject({ newConnections: 0, unansweredConnections: 0 });
  await expect(once('-n', 'elsewhere')).rejects.toThrow(
    'top ended with 1: elsewhere: no proxied Service is in this namespace',
  );
});

it('marks an endpoint that does not answer, or refuses, and no other', async () => {
  await testbed.pod.send([mute]);
  const before = await once('--interval', '1500ms');
  expect(portOf(before, 'mute', 'http')).toMatchObject({
    openConnections: 5,
    unansweredConnections: 5,
    unresponsiveEndpoints: 1,
  });
  expect(endpoint(portOf(before, 'mute', 'http'), MUTE)).toMatchObject({
    state: 'ready',
    unresponsive: true,
  });

  await second.kill();
  const top = await RunningTop.start(testbed.node, '--sort', 'unanswered');
  await testbed.pod.send([{ dst: web.dst, proto: 'tcp', port: web.port, n: 40 }]);
  await until('the refusing endpoint is marked', async () => {
    const row = endpoint(portOf(top.last, 'web', 'http'), second.address);
    return row?.unresponsive === true;
  });
  expect(endpoint(portOf(top.last, 'web', 'http'), first.address)?.unresponsive).toBe(false);
  await second.startAgain();
  await askTimes(10, testbed.pod, web);
  await until('it answers again', async () => {
    return endpoint(portOf(top.last, 'web', 'http'), second.address)?.unresponsive === false;
  });
  await top.stop();
});

it('shows a named Service without traffic, and ends with 1 for one that does not exist', async () => {
  expect(portOf(await once('idle'), 'idle', 'http')).toMatchObject({ openConnections: 0, newConnections: 0 });
  const { exitCode } = await Command.run(testbed.node, ['top', '--once', '--interval', '100ms', 'nobody']);
  expect(exitCode).toBe(1);
});

it('prints a table', async () => {
  const { stdout } = await Command.run(testbed.node, ['top', '--once', '--sort', 'unanswered']);
  expect(stdout).toMatch(/^SERVICE PORT +PROTOCOL +OPEN +NEW\/S +UNANSWERED +BYTES\/S +STATE$/m);
  expect(stdout).toMatch(/^default\/mute:http +TCP +5 +0 +5 +0 B +1 of 1 ready endpoint does not answer$/m);
  expect(stdout).toMatch(/^ +10\.244\.1\.99:8080 +5 +0 +5 +0 B +does not answer$/m);
});

it('counts all the time for metrics, if they are asked for, in mode iptables too', async () => {
  await proxy.remove();
  proxy = await ProxyProcess.start({
    host: testbed.node,
    mode: 'iptables',
    config: `${testConfig}serviceTrafficMetrics: true\n`,
    objects,
  });
  const labels = '\\{namespace="default",service="web",port="http"\\}';
  const total = async (): Promise<number> => {
    const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics');
    const value = new RegExp(`^kube_proxy_ts_service_connections_total${labels} (\\d+)$`, 'm').exec(
      body,
    )?.[1];
    return Number(value ?? 0);
  };
  await until('the Service is counted', async () => {
    await askTimes(1, testbed.ext, webNodePort);
    return (await total()) > 0;
  });
  const before = await total();
  await askTimes(9, testbed.ext, webNodePort);
  await until('the connections are counted', async () => (await total()) === before + 9);
});
