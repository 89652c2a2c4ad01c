import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { nightly } from '../support/nightly.js';
import { Command } from '../support/program/command.js';
import type { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';

const CHECK_PORT = 32111;
const SLOW = 'GET /healthz HTTP/1.1\r\nHost: node\r\n';
const ONE = ['198.18.0.50'];
const TEN = Array.from({ length: 10 }, (_, n) => `198.18.0.${60 + n}`);
/** How long each crowd stays, and how often those ask that must be answered meanwhile. Milliseconds. */
const STAY = 3_000;
const PAUSE = 100;
/** In real time, on a machine that does other things, too: no probe may be reset, nor lost. */
const LIMIT = 10_000;
/** A tenth of that on most machines. */
const SOON = 3_000;

/** A Service that load balancers check. */
const cart = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'cart', namespace: 'shop' },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '172.30.20.6',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: CHECK_PORT,
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30186 }],
  },
};

let testbed: Testbed;
let folder: string;
let proxy: Command;

beforeAll(async () => {
  testbed = await Testbed.open();
  for (const address of TEN) await testbed.ext.run(['ip', 'address', 'add', `${address}/24`, 'dev', 'eth0']);
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-crowd-'));
  const file = join(folder, 'objects.yaml');
  await writeFile(file, [testNode, testServiceCidr, cart].map((one) => stringify(one)).join('---\n'));
  proxy = await Command.start(testbed.node, [
    ...['--proxy-mode', 'nftables', '--hostname-override', 'node1', '--manifests', file],
    ...['--nodeport-addresses', '0.0.0.0/0', '--conntrack-max-per-core', '0'],
    ...['--conntrack-tcp-timeout-established', '0', '--conntrack-tcp-timeout-close-wait', '0'],
  ]);
  await proxy.until(
    'the check is open',
    async () => (await testbed.pod.get(`http://10.244.1.1:${CHECK_PORT}/`)).status === 503,
  );
});

afterAll(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
  await testbed?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/**
 * How much the proxy worked until each answer came, until the signal, in milliseconds of its own processor time: on a machine that
 * does nothing else it is the time that the answer took. Fails with the first answer that does not come at all.
 */
async function workBefore(host: Host, url: string, signal: AbortSignal): Promise<readonly number[]> {
  const times: number[] = [];
  while (!signal.aborted) {
    const asked = await processorTime();
    await host.ask('httpGet', { url, timeoutMs: LIMIT });
    times.push((await processorTime()) - asked);
    await sleep(PAUSE);
  }
  return times;
}

/** Of the proxy so far, in milliseconds. */
async function processorTime(): Promise<number> {
  const nanoseconds = (await readFile(`/proc/${proxy.pid}/schedstat`, 'utf8')).split(' ', 1)[0];
  return Number(nanoseconds) / 1e6;
}

/** Who must be answered: the kubelet, over loopback and over the node's own address, and a load balancer. */
function probes(port: number): readonly (readonly [Host, string])[] {
  const { node, pod } = testbed;
  return [
    [node, `http://127.0.0.1:${port}/healthz`],
    [node, `http://198.51.100.11:${port}/healthz`],
    [pod, `http://10.244.1.1:${port}/healthz`],
  ];
}

type Crowd = readonly [string, object, number];
const IDLE: readonly Crowd[] = [
  ['one client holds 5,000 idle connections', { sources: ONE, hold: 5_000 }, 5_000],
  ['each of ten opens 300 a second', { sources: TEN, perSecond: 300 }, 3_000],
];
const SLOWLY: readonly Crowd[] = [
  ['one client holds 5,000 with slow headers', { sources: ONE, hold: 5_000, said: SLOW }, 5_000],
  ['each of ten opens 300 with slow headers a second', { sources: TEN, perSecond: 300, said: SLOW }, 3_000],
];

describe.each<[string, number, readonly Crowd[]]>([
  ['10256', 10256, [...(nightly ? IDLE : []), ...SLOWLY]],
  // The same server: what costs it most is enough.
  ['a health-check node port', CHECK_PORT, SLOWLY.slice(1)],
])('%s answers soon', (_, port, crowds) => {
  it.each(crowds)('while %s', async (__, crowd, atLeast) => {
    const logged = proxy.log.length;
    await testbed.ext.ask('crowd', { dst: '198.18.0.1', port, ...crowd });
    const over = new AbortController();
    const answers = Promise.all(probes(port).map(([host, url]) => workBefore(host, url, over.signal)));
    await Promise.race([sleep(STAY), answers.catch(() => undefined)]);
    over.abort();
    const { tried } = await testbed.ext.ask<{ tried: number }>('endCrowd', {});
    for (const work of await answers) expect(Math.max(...work)).toBeLessThan(SOON);
    expect(tried).toBeGreaterThan(atLeast);
    expect(proxy.log.slice(logged).split('\n').length).toBeLessThan(5);
  });

  it('of which the log has a line each minute', () => {
    const lines = proxy.log.split('\n').filter((line) => line.includes('too many connections'));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(10);
  });
});
