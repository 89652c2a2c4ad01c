import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Command } from '../support/program/command.js';
import { statusOf } from '../support/program/status.js';
import { testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';

/** Our own routes, and the page. */
const OWN = ['/debug/status', '/debug/search', '/debug/diff', '/debug/sync', '/debug/services', '/'];
/** kube-proxy has them, too. */
const KUBE_PROXYS = ['/metrics', '/configz', '/proxyMode', '/healthz', '/debug/pprof/', '/debug/flags'];
const TRACE = '/debug/trace?from=node&to=10.96.0.1:443&kernel=true';

let testbed: Testbed;
let folder: string;
let proxy: Command | undefined;

beforeAll(async () => {
  testbed = await Testbed.open();
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-debug-'));
  await writeFile(
    join(folder, 'objects.yaml'),
    [testNode, testServiceCidr].map((one) => stringify(one)).join('---\n'),
  );
});
afterEach(() => proxy?.stop('SIGKILL'));
afterAll(async () => {
  await testbed?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** A proxy whose metrics are for everybody, as with EKS. */
async function start(...flags: readonly string[]): Promise<void> {
  const started = await Command.start(testbed.node, [
    ...[
      '--proxy-mode',
      'nftables',
      '--hostname-override',
      'node1',
      '--manifests',
      join(folder, 'objects.yaml'),
    ],
    ...['--conntrack-max-per-core', '0', '--conntrack-tcp-timeout-established', '0'],
    ...['--conntrack-tcp-timeout-close-wait', '0', '--profiling', '--page'],
    ...['--metrics-bind-address', '0.0.0.0:10249', ...flags],
  ]);
  proxy = started;
  await started.until(
    'everything is programmed, and rules of other modes are looked for no more',
    async () => {
      const { state, inSync } = await statusOf(testbed.node);
      return state === 'ok' && inSync;
    },
  );
}

const fromPod = async (path: string): Promise<number> =>
  (await testbed.pod.get(`http://10.244.1.1:10249${path}`)).status;
const onNode = async (path: string): Promise<number> =>
  (await testbed.node.get(`http://127.0.0.1:10249${path}`)).status;

it('answers only over loopback wherever metrics are, so that the commands work', async () => {
  await start();
  for (const path of [...OWN, TRACE]) {
    expect([path, await fromPod(path)]).toEqual([path, 403]);
    expect([path, await onNode(path)]).toEqual([path, 200]);
  }
  for (const path of KUBE_PROXYS) expect([path, await fromPod(path)]).toEqual([path, 200]);
  const { exitCode, stdout } = await Command.run(testbed.node, ['status']);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('ok')]);
});

it('answers everybody with --debug-routes', async () => {
  await start('--debug-routes=true');
  for (const path of [...OWN, TRACE]) expect([path, await fromPod(path)]).toEqual([path, 200]);
});
