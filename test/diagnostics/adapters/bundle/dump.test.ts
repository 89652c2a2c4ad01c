import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpCluster } from '../../../../src/diagnostics/adapters/bundle/cluster-bundle.js';
import {
  BundleArchive,
  collectParts,
  type BundleIndex,
  type NodeBundle,
} from '../../../../src/diagnostics/adapters/bundle/bundle.js';
import { nodeParts } from '../../../../src/diagnostics/adapters/bundle/node-parts.js';
import { QueryError, RunningProxy } from '../../../../src/diagnostics/adapters/cli/running-proxy.js';
import { NO_TERMINAL, PLUGIN } from '../../../../src/adapters/cli/reader.js';
import { JSON_TYPE, respond, TEXT_TYPE, type Routes } from '../../../../src/adapters/http/router.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import type { ContainerCommand, Executed } from '../../../support/api-server/container-commands.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { putNodes } from '../../../support/api-server/simulated-nodes.js';
import { parseCommand } from '../../../support/command-line.js';
import { Served } from '../../../support/http/served.js';
import { usePrinted } from '../../../support/program/use-printed.js';
import { readArchive } from '../../../support/read-archive.js';

/** Planted in every input; none may be in an archive. */
const SECRET = 's3cr3t-Va1ue';
const KUBECONFIG = `users:\n- user:\n    token: ${SECRET}\n    client-key-data: ${SECRET}\n`;
const planted = {
  token: SECRET,
  nested: [{ password: SECRET }, `--bearer-token=${SECRET}`, '--token', SECRET, KUBECONFIG],
  env: [{ name: 'FOO', value: SECRET }],
  annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"a":"${SECRET}"}` },
};
const PLANTED_LOG = [
  'I1128 started',
  `{"level":"info","authorization":"Bearer ${SECRET}","message":"token=${SECRET}"}`,
  `GET https://admin:${SECRET}@example.com/`,
  `env FOO password: ${SECRET}`,
  KUBECONFIG,
].join('\n');

let folder: string;
let path: string;
const printed = usePrinted();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-dump-'));
  path = join(folder, 'bundle.tar.gz');
});

function expectNoSecret(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) expect([name, content]).not.toContain(SECRET);
  expect(Object.values(files).join('\n')).not.toContain(SECRET);
  expect(Object.values(files).join('\n')).toContain('[removed]');
}

describe('of a node', () => {
  let served: Served | undefined;
  afterEach(() => served?.stop());

  it('has the answers of all routes, without secrets', async () => {
    const json = (_: unknown, response: Parameters<Routes[string]>[1]): void =>
      respond(response, 200, JSON_TYPE, JSON.stringify({ ...planted, services }));
    const services = [
      { namespace: 'shop', name: 'web', state: 'error' },
      { namespace: 'shop', name: 'well', state: 'ok' },
    ];
    const routes = ['status', 'history', 'sync', 'diff', 'traffic', 'explain', 'services'];
    served = await Served.start({
      ...Object.fromEntries(routes.map((name) => [`/debug/${name}`, json])),
      '/configz': (_, response) => respond(response, 503, TEXT_TYPE, `no: token=${SECRET}`),
      '/metrics': (_, response) => respond(response, 200, TEXT_TYPE, `up{token="${SECRET}"} 1\n`),
    });
    const parts = nodeParts(RunningProxy.at(served.address), '0.1.0');
    const files = await collectParts(parts.filter((part) => part.path.startsWith('debug/')));
    const archive = await BundleArchive.open(path, { version: '0.1.0', time: '2026-11-28T20:30:00Z' });
    await archive.add('node-1', files);
    await archive.finish();
    const written = await readArchive(path);
    expectNoSecret(written);
    expect(Object.keys(written).sort()).toEqual([
      'README.md',
      'index.json',
      ...[...routes.map((name) => `${name}.json`), 'metrics.txt']
        .sort()
        .map((name) => `node-1/debug/${name}`),
    ]);
    expect(JSON.parse(written['node-1/debug/explain.json']!)).toHaveLength(1);
    expect(JSON.parse(written['index.json']!) as BundleIndex).toMatchObject({
      files: expect.arrayContaining([
        expect.objectContaining({ path: 'node-1/debug/configz.json', state: 'missing' }),
      ]) as unknown,
    });
  });

  it('says once that no proxy is reachable', async () => {
    const parts = nodeParts(new QueryError('no proxy answers'), '0.1.0');
    const debug = parts.filter((part) => part.path.startsWith('debug'));
    expect(await collectParts(debug)).toMatchObject([
      { path: 'debug', state: 'missing', reason: 'no proxy answers' },
    ]);
  });
});

describe('of a cluster', () => {
  let api: StandInApiServer;
  let kubeconfig: string;
  beforeEach(async () => {
    api = await StandInApiServer.start();
    api.clusterRole = undefined;
    kubeconfig = await writeKubeconfig(api);
    putNodes(api, [
      {
        name: 'node-1',
        pod: {
          spec: {
            initContainers: [{ name: 'init' }],
            volumes: [{ configMap: { name: 'kube-proxy' } }, { emptyDir: {} }],
            serviceAccountName: 'kube-proxy',
            ...planted,
          },
          status: {
            containerStatuses: [{ name: 'kube-proxy', state: { running: {} }, restartCount: 1 }],
          },
          metadata: { annotations: planted.annotations },
        },
      },
      { name: 'node-2' },
      { name: 'node-3' },
    ]);
    const inSystem = { namespace: 'kube-system', labels: { 'k8s-app': 'kube-proxy' } };
    api.put({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { ...inSystem, name: 'kube-proxy', annotations: planted.annotations, managedFields: [{}] },
      spec: planted,
    });
    api.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...inSystem, name: 'kube-proxy' },
      data: { 'kubeconfig.conf': KUBECONFIG, 'config.conf': 'mode: nftables\n' },
    });
    api.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...inSystem, name: 'other' },
      data: { any: SECRET },
    });
    event('pod', 'kube-system', { kind: 'Pod', name: 'kube-proxy-node-1' });
    event('other-pod', 'kube-system', { kind: 'Pod', name: 'other' });
    event('service', 'shop', { kind: 'Service', name: 'web' }, 'Warning');
    event('usual', 'shop', { kind: 'Service', name: 'web' });
    api.answerOther = ({ path: asked, query }) => {
      const [, pod = '', log] = /\/pods\/([^/]+)\/(log)$/.exec(asked) ?? [];
      if (log === undefined) return undefined;
      if (pod === 'kube-proxy-node-2')
        return { code: 500, body: { kind: 'Status', message: `token=${SECRET}` } };
      return { code: 200, body: `${pod} ${String(query)}\n${PLANTED_LOG}` };
    };
    api.containers.run = run;
  });
  afterEach(() => api.close());

  function event(name: string, namespace: string, involvedObject: object, type = 'Normal'): void {
    api.put({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject,
      type,
      message: `password=${SECRET}`,
    } as never);
  }

  function run({ pod, command }: ContainerCommand): Executed {
    expect(command.slice(1, 4)).toEqual(['dump', '-o', 'json']);
    if (pod === 'kube-proxy-node-3') return { exitCode: 3, stderr: 'Error: it hangs\n' };
    const file = (name: string, content: string) => ({
      path: name,
      source: 'x',
      state: 'complete',
      durationSeconds: 0,
      content,
    });
    const bundle = {
      node: 'n',
      version: '0.1.0',
      time: '2026-11-28T20:30:00Z',
      // Of another version, which removes nothing.
      files: [file('debug/status.json', JSON.stringify(planted)), file('logs/journal.log', PLANTED_LOG)],
    };
    return { exitCode: 1, stdout: JSON.stringify(bundle as NodeBundle) };
  }

  const dump = (...args: readonly string[]): Promise<number> =>
    dumpCluster(
      parseCommand(
        ['dump', ...args, '--kubeconfig', kubeconfig],
        { readFile: () => '', hostname: () => 'laptop' },
        { ...NO_TERMINAL, program: PLUGIN },
      ),
      '0.1.0',
      60_000,
    );

  it('is one archive with a folder for each node, logs and objects, without secrets', async () => {
    expect(await dump(path)).toBe(1);
    expect(printed.stderr).toBe('');
    expect(printed.stdout).toMatch(/^wrote \d+ files to .*bundle\.tar\.gz\n/);
    const files = await readArchive(path);
    expectNoSecret(files);
    expect(Object.keys(files).sort()).toEqual([
      'README.md',
      'cluster/configmaps/kube-proxy.json',
      'cluster/daemonsets.json',
      'cluster/events-nodes.json',
      'cluster/events-proxies.json',
      'cluster/events-services.json',
      'cluster/nodes.json',
      'cluster/pods.json',
      'cluster/version.json',
      'index.json',
      'node-1/debug/status.json',
      'node-1/logs/journal.log',
      'node-1/logs/kube-proxy-node-1/init.log',
      'node-1/logs/kube-proxy-node-1/kube-proxy-previous.log',
      'node-1/logs/kube-proxy-node-1/kube-proxy.log',
      'node-2/debug/status.json',
      'node-2/logs/journal.log',
      'node-3/logs/kube-proxy-node-3/kube-proxy.log',
    ]);
    expect(files['node-1/logs/kube-proxy-node-1/kube-proxy.log']).toMatch(
      /^kube-proxy-node-1 .*sinceSeconds=3600/,
    );
    expect(files['node-1/logs/kube-proxy-node-1/kube-proxy-previous.log']).toMatch(/previous=true/);
    expect(files['cluster/configmaps/kube-proxy.json']).toContain('mode: nftables');
    expect(files['cluster/daemonsets.json']).not.toContain('managedFields');
    const eventsIn = (name: string): unknown =>
      (JSON.parse(files[`cluster/${name}.json`]!) as { metadata: { name: string } }[]).map(
        ({ metadata }) => metadata.name,
      );
    expect(eventsIn('events-proxies')).toEqual(['pod']);
    expect(eventsIn('events-services')).toEqual(['service']);
    const missing = printed.stdout.split('\n').slice(1, -1);
    expect(missing).toEqual([
      expect.stringMatching(/^missing: node-2\/logs\/kube-proxy-node-2\/kube-proxy\.log: .*500/),
      expect.stringMatching(/^missing: node-3\/node: Error: it hangs$/),
    ]);
  });

  it('is there without the rights for some objects', async () => {
    api.containers.run = (command) => run({ ...command, pod: 'kube-proxy-node-1' });
    api.faults.fail({
      status: 403,
      reason: 'Forbidden',
      message: 'nodes is forbidden',
      match: '/api/v1/nodes',
    });
    expect(await dump(path)).toBe(1);
    expect(printed.stdout).toMatch(/^missing: cluster\/nodes\.json: .*nodes is forbidden/m);
    expect(Object.keys(await readArchive(path))).toContain('cluster/pods.json');
  });

  it('is there, too, when no proxy is reachable', async () => {
    api.containers.run = () => ({ exitCode: 3, stderr: 'Error: it hangs\n' });
    expect(await dump(path)).toBe(3);
    expect(Object.keys(await readArchive(path))).toContain('node-1/logs/kube-proxy-node-1/kube-proxy.log');
  });

  it('is about the nodes that are named', async () => {
    expect(await dump(path, '--node', 'node-2')).toBe(1);
    const folders = Object.keys(await readArchive(path)).map((name) => name.split('/', 1)[0]);
    expect([...new Set(folders)].sort()).toEqual(['README.md', 'cluster', 'index.json', 'node-2']);
    await expect(dump(join(folder, 'other.tar.gz'), '--node', 'none')).rejects.toThrow('no node none');
  });

  it('is not there without a proxy or an API server', async () => {
    await expect(dump(path, '-l', 'app=none', '--proxy-namespace', 'none')).resolves.toBe(3);
    await api.close();
    await expect(dump(join(folder, 'other.tar.gz'))).rejects.toThrow(QueryError);
    expect(await readdir(folder)).not.toContain('other.tar.gz');
  });
});
