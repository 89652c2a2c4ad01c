import { thisVersion } from '../../src/bootstrap/version.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { queryCluster } from '../../src/diagnostics/adapters/cli/cluster/query-cluster.js';
import { NO_TERMINAL, PLUGIN } from '../../src/adapters/cli/reader.js';
import { StandInApiServer } from '../support/api-server/api-server.js';
import { writeKubeconfig } from '../support/api-server/kubeconfig.js';
import { putNodes } from '../support/api-server/simulated-nodes.js';
import { Command } from '../support/program/command.js';
import { statusOf } from '../support/program/status.js';
import { Namespace } from '../support/program/in-namespace.js';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { Host } from '../support/testbed/host.js';
import { parseCommand } from '../support/command-line.js';

const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.6',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
  endpoints: ['10.244.1.11', '10.244.1.12'],
};

/** Two nodes with the real program, which exec runs beside each proxy; the second knows one endpoint less. */
it('asks real proxies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-cluster-'));
  const api = await StandInApiServer.start();
  api.clusterRole = undefined;
  const names = ['node-1', 'node-2'];
  const nodes = await Promise.all(
    names.map(async (name, index) => {
      const namespace = await Namespace.open(`clu${index}`);
      const host = new Host(namespace.name);
      const file = join(folder, `${name}.yaml`);
      const endpoints = web.endpoints.slice(index);
      await writeFile(file, clusterObjects([{ ...web, endpoints }]));
      const identity = [
        '--proxy-mode',
        'nftables',
        '--hostname-override',
        name,
        '--cluster-cidr',
        '10.244.0.0/16',
      ];
      const proxy = await Command.start(host, [...identity, '--manifests', file]);
      return { name, namespace, host, proxy };
    }),
  );
  let stdout = '';
  try {
    for (const { host, proxy } of nodes)
      await proxy.until(
        'the services are programmed, and rules of other modes looked for no more',
        async () => (await statusOf(host)).inSync,
      );
    putNodes(
      api,
      names.map((name) => ({ name })),
    );
    api.containers.run = async ({ pod, command }) => {
      const { host } = nodes.find(({ name }) => pod.endsWith(name))!;
      const words = command.slice(1).filter((word) => !word.startsWith('--config'));
      const { exitCode, ...output } = await Command.run(host, words);
      return { exitCode: exitCode!, ...output };
    };
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((stdout += String(text))));
    const kubeconfig = await writeKubeconfig(api);
    const cluster = (...args: readonly string[]): Promise<number> => {
      stdout = '';
      const asked = parseCommand(
        [...args, '--kubeconfig', kubeconfig],
        {
          readFile: () => '',
          hostname: () => 'laptop',
        },
        { ...NO_TERMINAL, program: PLUGIN },
      );
      return queryCluster(asked, thisVersion('v1.37.0'), 60_000);
    };
    expect(await cluster('status')).toBe(0);
    expect(stdout).toMatch(/^node-1 +ok +\S+ +nftables +yes +- +0 +0$/m);
    expect(stdout).not.toContain('not reachable');
    expect(await cluster('explain', 'default/web')).toBe(1);
    expect(stdout.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      'default/web: ok on 1 of 2 nodes (node-1): 2 of 2 endpoints are ready',
      'default/web: ok on 1 of 2 nodes (node-2): 1 of 1 endpoint is ready',
      'default/web: node-2 has other frontends or endpoints than the other nodes',
    ]);
    // Of one node, the text and the exit code are those of its own command.
    for (const words of [['explain', 'default/web'], ['services'], ['version', '-o', 'json']]) {
      const own = await Command.run(nodes[1]!.host, words);
      expect(await cluster(...words, '--node', 'node-2')).toBe(own.exitCode);
      if (words[0] !== 'version') expect(stdout).toBe(own.stdout);
    }
    expect(await cluster('services', 'svc/web', '-n', 'default', '-o', 'name')).toBe(0);
    expect(stdout).toBe('service/web\n');
    expect(await cluster('explain', 'default/nosuch')).toBe(1);
    expect(stdout).toMatch(/^default\/nosuch: error on 2 of 2 nodes: \S/);
    expect(await cluster('top')).toBe(0);
    expect(stdout).toBe('no connections of Services\n');
  } finally {
    jest.restoreAllMocks();
    for (const { proxy, host, namespace } of nodes) {
      if (proxy.running) await proxy.stop('SIGKILL');
      await host.killAgent();
      await namespace.close();
    }
    await api.close();
    await rm(folder, { recursive: true, force: true });
  }
});
