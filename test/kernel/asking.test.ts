import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type {
  AddressExplanation,
  Explanation,
} from '../../src/diagnostics/application/explain/explanation.js';
import type { History } from '../../src/application/status/change-entry.js';
import type { ProxyStatus } from '../../src/diagnostics/application/status/proxy-status.js';
import type { ServiceList } from '../../src/diagnostics/application/status/service-row.js';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { Command, type Ended } from '../support/program/command.js';
import { statusOf, syncStateOf } from '../support/program/status.js';
import { Host } from '../support/testbed/host.js';
import { TableOwner } from '../support/testbed/table-owner.js';
import { Namespace } from '../support/program/in-namespace.js';
import { until } from '../support/until.js';
import { readArchive } from '../support/read-archive.js';

const metrics = 'http://127.0.0.1:10249';

const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.6',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30186 }],
  endpoints: ['10.244.1.11', '10.244.1.12'],
};
/** Asks for a cluster IP that the other one holds. */
const rival: TestService = { ...web, name: 'zrival', ports: [{ ...web.ports[0]!, nodePort: 30187 }] };
const idle: TestService = {
  ...web,
  name: 'idle',
  clusterIP: '172.30.20.7',
  ports: [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 }],
  endpoints: [],
};
const headless = stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'db' },
  spec: { clusterIP: 'None', ports: [{ port: 5432 }] },
});

const flags = ['--proxy-mode', 'nftables', '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];

let namespace: Namespace;
let node: Host;
let folder: string;
let proxy: Command;

const file = (): string => join(folder, 'objects.yaml');
const ask = (...args: readonly string[]): Promise<Ended> => Command.run(node, args);

async function asked<Answer>(...args: readonly string[]): Promise<Answer> {
  const { stdout } = await ask(...args, '-o', 'json');
  return JSON.parse(stdout) as Answer;
}

async function place(services: readonly TestService[], ...more: readonly string[]): Promise<void> {
  await writeFile(`${folder}/next`, [clusterObjects(services), ...more].join('---\n'));
  await rename(`${folder}/next`, file());
}

async function statusNow(): Promise<ProxyStatus> {
  return statusOf(node);
}

const idleNow = async (): Promise<boolean> => (await syncStateOf(node)).idle;

beforeAll(async () => {
  namespace = await Namespace.open('asking');
  node = new Host(namespace.name);
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-asking-'));
  await place([web, idle], headless);
  proxy = await Command.start(node, [...flags, '--manifests', file()]);
  await proxy.until('everything is programmed', idleNow);
  await until('rules of other modes are looked for no more', async () => (await statusNow()).inSync);
});

afterAll(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
  await node.killAgent();
  await namespace.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a running proxy that is asked', () => {
  it('tells its status', async () => {
    const { exitCode, stdout } = await ask('status');
    expect(stdout).toMatch(/^node1: ok\n {2}nftables mode, version \d/);
    expect(stdout).toMatch(/^ {2}IPv4: in sync, 2 service ports programmed, last sync 20/m);
    expect(exitCode).toBe(0);
    expect(await asked<ProxyStatus>('status')).toMatchObject({
      state: 'ok',
      node: 'node1',
      mode: 'nftables',
      inSync: true,
      lagSeconds: 0,
      families: [{ family: 'IPv4', programmed: 2, failed: [] }, { family: 'IPv6' }],
    });
  });

  it('tells its version', async () => {
    const { stdout, exitCode } = await ask('version');
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^client: 0\.1\.0 for Kubernetes v1\.37\.0, .*\nproxy: {2}0\.1\.0 .*, nftables mode, Linux .*\n$/,
      ),
    ]);
  });

  it('lists its Services', async () => {
    expect(await ask('services')).toMatchObject({
      exitCode: 1,
      stdout: `NAMESPACE  NAME  TYPE       ENDPOINTS  STATE  FRONTENDS              REASON
default    idle  ClusterIP  0/0        error  172.30.20.7:53/UDP     its EndpointSlices list no endpoint, and it has no selector
default    web   NodePort   2/2        ok     172.30.20.6:80/TCP +1  2 of 2 endpoints are ready
`,
    });
    const without = await asked<ServiceList>('services', '--problems');
    expect(without.services.map(({ name }) => name)).toEqual(['idle']);
    const { exitCode, stdout, stderr } = await ask(
      'services',
      '-n',
      'default',
      'web',
      'db',
      'none',
      '-o',
      'wide',
    );
    expect([exitCode, stderr]).toEqual([1, 'none: there is no Service none in namespace default\n']);
    expect(stdout).toMatch(/web .* 172\.30\.20\.6:80\/TCP, 30186\/TCP .*\n.*db .* ok .*headless/);
  });

  it('explains Services, addresses and ports', async () => {
    const missing = await ask('explain', 'default/idle');
    expect(missing.stdout).toContain('172.30.20.7:53 (Cluster): reject, its EndpointSlices list no endpoint');
    expect(missing.exitCode).toBe(1);
    expect(await ask('explain', 'default/db')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^default\/db: ok: it is headless/) as string,
    });
    expect(await asked<Explanation>('explain', 'default/web')).toMatchObject({ known: true });
    expect(await asked<Explanation>('explain', 'web:http')).toMatchObject({
      service: 'default/web',
      known: true,
    });
    expect((await ask('explain', 'default/web:admin')).stdout).toContain(
      'default/web: error: it has no port named admin (it has: http)',
    );
    expect(await ask('explain', 'nosuch')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^nosuch: error: no proxied Service has this name/) as string,
      stderr: '',
    });
    const several = await asked<readonly Explanation[]>('explain', '-n', 'default', 'web', 'idle');
    expect(several.map(({ service }) => service)).toEqual(['default/web', 'default/idle']);
    expect(await ask('explain', '172.30.20.6:80/tcp')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('frontend of default/web, port http TCP, IPv4: programmed') as string,
    });
    const { frontends } = await asked<AddressExplanation>('explain', '30186');
    expect(frontends.map(({ service, kind }) => [service, kind])).toEqual([['default/web', 'node-port']]);
    expect((await ask('explain', '10.244.1.12')).stdout).toContain('endpoint of default/web, port http TCP');
    expect(await ask('explain', '172.30.99.1')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('in the service range 172.30.0.0/16, but no Service has it') as string,
    });
  });

  it('follows packets to a Service by its name', async () => {
    for (const to of ['web', 'default/web:http', 'web:80/tcp']) {
      const { stdout, exitCode } = await ask('trace', '--from', '10.244.1.5', '--to', to);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^10\.244\.1\.5 → 172\.30\.20\.6:80\/TCP/);
    }
    const manifests = ['--manifests', file(), ...flags];
    const without = await ask('trace', '--from', 'node', '--to', 'idle', ...manifests);
    expect(without.stdout).toMatch(/^.* → 172\.30\.20\.7:53\/UDP/);
    expect(await ask('trace', '--from', 'node', '--to', 'web:https')).toMatchObject({
      exitCode: 1,
      stderr: 'Error: default/web has no such port; it has http/tcp\n',
    });
    expect((await ask('trace', '--from', 'node', '--to', 'nosuch')).stderr).toBe(
      'Error: no Service nosuch has a cluster IP here; for a pod, write pod/nosuch:PORT\n',
    );
  });

  it('tells what it changed, over a churn', async () => {
    const addresses = ['10.244.1.13', '10.244.1.14', '10.244.1.15'];
    for (const address of addresses) {
      await place([{ ...web, endpoints: ['10.244.1.11', address] }, idle], headless);
      await until(
        'the endpoint is programmed',
        async () =>
          (await node.get(`${metrics}/debug/explain?subject=default/web`)).body.includes(`"${address}"`) &&
          (await idleNow()),
      );
    }
    const { changes } = await asked<History>('history', 'default/web');
    expect(changes).toHaveLength(3);
    expect(changes.at(-1)).toMatchObject({
      servicePort: 'default/web:http',
      family: 'IPv4',
      result: 'programmed',
      endpointChange: { count: 2, examples: ['-10.244.1.14:8080', '+10.244.1.15:8080'] },
    });
    const all = await ask('history');
    expect(all.exitCode).toBe(0);
    expect(all.stdout).toMatch(/everything programmed/);
    expect(all.stdout.match(/default\/web:http +IPv4 +programmed/g)).toHaveLength(3);
    const none = await ask('history', 'default/none');
    expect([none.exitCode, none.stdout]).toEqual([1, 'no changes\n']);
    expect(none.stderr).toBe('default/none: there is no Service none in namespace default\n');
    expect((await ask('diff', 'default/none')).exitCode).toBe(1);
    expect((await ask('diff', 'default/web')).exitCode).toBe(0);
    expect((await ask('services', '-n', 'none')).exitCode).toBe(1);
  });

  it('collects a support bundle without secrets', async () => {
    const path = join(folder, 'bundle.tar.gz');
    await namespace.run(['nft', 'add table inet other { comment "password=s3cr3t-Va1ue" ; }']);
    await namespace.run(['ip', 'route', 'add', 'blackhole', '198.51.100.0/24', 'table', '77']);
    await namespace.run(['ip', 'rule', 'add', 'fwmark', '0x10/0xf0', 'lookup', '77', 'priority', '100']);
    const { exitCode, stdout, stderr } = await ask('dump', path);
    await namespace.run(['nft', 'delete table inet other']);
    expect(stderr).toBe('');
    // No unit of systemd runs this proxy.
    expect(stdout).toMatch(
      /^wrote \d+ files to .*bundle\.tar\.gz\nmissing: node1\/logs\/journal\.log: .*\n$/,
    );
    expect(exitCode).toBe(1);
    const files = await readArchive(path);
    const json = (name: string): unknown => JSON.parse(files[`node1/${name}`]!);
    expect(json('debug/status.json')).toMatchObject({ node: 'node1' });
    expect(json('debug/services.json')).toMatchObject({ services: [{ name: 'idle' }, { name: 'web' }] });
    expect(json('debug/diff.json')).toMatchObject({ families: [{ lines: [] }, { lines: [] }] });
    expect(json('debug/history.json')).toMatchObject({ total: expect.any(Number) as number });
    expect(json('debug/configz.json')).toMatchObject({ 'kubeproxy.config.k8s.io': { mode: 'nftables' } });
    expect(json('debug/traffic.json')).toMatchObject({ services: expect.any(Array) as unknown });
    expect(files['node1/debug/metrics.txt']).toContain('kube_proxy_ts_service_ports');
    expect(files['node1/rules/nftables.txt']).toMatch(/table ip kube-proxy \{[^]*172\.30\.20\.6/);
    expect(files['node1/rules/nftables.txt']).toContain('table inet other');
    expect(json('network/devices.json')).toContainEqual(
      expect.objectContaining({ name: 'lo', mtu: 65536, addresses: ['127.0.0.1/8', '::1/128'] }),
    );
    expect(files['node1/network/routes.txt']).toMatch(/^blackhole 198\.51\.100\.0\/24 .*table 77$/m);
    expect(files['node1/network/rules.txt']).toContain('IPv4 100: from all fwmark 0x10/0xf0 lookup 77');
    expect(files['node1/network/routes.txt']).toMatch(/^local 127\.0\.0\.1\/32 .* table local$/m);
    expect(files['node1/network/rules.txt']).toContain('IPv4 32766: from all lookup main');
    expect(json('network/neighbours.json')).toEqual(expect.any(Object));
    expect(json('network/conntrack.json')).toMatchObject({ max: expect.any(Number) as number });
    expect(files['node1/network/sysctls.txt']).toMatch(/^net\.ipv4\.ip_forward = [01]$/m);
    expect(files['node1/network/sysctls.txt']).toMatch(/^net\.ipv4\.conf\.all\.rp_filter = \d$/m);
    expect(json('system.json')).toMatchObject({
      kernel: expect.any(String) as string,
      nodeVersion: process.version,
    });
    for (const content of Object.values(files)) expect(content).not.toContain('s3cr3t-Va1ue');
  });

  it('tells what it repaired', async () => {
    await namespace.run(['nft', 'delete', 'table', 'ip', 'kube-proxy']);
    await until('it is repaired', async () =>
      (await statusNow()).families.some(({ sync }) => sync.drift.writtenSteps > 0),
    );
    const { changes } = await asked<History>('history');
    expect(changes.filter(({ kind }) => kind === 'repaired')).toEqual([
      {
        kind: 'repaired',
        family: 'IPv4',
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        writtenSteps: expect.any(Number) as number,
      },
    ]);
    const { exitCode, stdout } = await ask('status');
    expect(stdout).toMatch(/^ {2}IPv4: in sync, .*, 1 repair after another program, the last 20/m);
    expect(exitCode).toBe(0);
  });

  it('finds rules of another program in the way of a Service', async () => {
    for (const command of [
      'link add cni0 type bridge',
      'link add pod0 master cni0 up type veth peer name pod1',
      'link set pod1 up',
      'link set cni0 up',
      'addr add 10.244.1.1/24 dev cni0',
      'route add default via 10.244.1.254',
    ])
      await namespace.run(['ip', ...command.split(' ')]);
    expect(await asked<Explanation>('explain', 'default/web')).toMatchObject({
      kernelPath: { obstacles: [] },
    });
    await namespace.run(['nft', 'add table inet guard']);
    await namespace.run(['nft', 'add chain inet guard o { type filter hook output priority -10; }']);
    await namespace.run(['nft', 'add rule inet guard o ip daddr 10.244.1.0/24 tcp dport 8080 drop']);
    const { exitCode, stdout } = await ask('explain', 'default/web');
    await namespace.run(['nft', 'delete table inet guard']);
    expect(stdout).toMatch(
      /^ {2}in the kernel: from node to 172\.30\.20\.6:80\/TCP: drop, a rule of another program, in inet guard o: .*10\.244\.1\.0\/24 .*drop; `kubeproxy trace --kernel --from node --to 172\.30\.20\.6:80\/TCP` shows its path$/m,
    );
    expect(exitCode).toBe(1);
  });

  it('tries endpoints when it is asked to, and says which are dead', async () => {
    const alive = { ...web, endpoints: ['10.244.1.11', '10.244.1.12'] };
    await namespace.run(['ip', 'addr', 'add', '10.244.1.11/32', 'dev', 'lo']);
    await node.ask('serve', { name: 'alive', port: 8080 });
    await place([alive, idle], headless);
    await until(
      'both endpoints are programmed',
      async () =>
        (await node.get(`${metrics}/debug/explain?subject=default/web`)).body.includes('"10.244.1.12"') &&
        (await idleNow()),
    );
    expect((await ask('explain', 'default/web')).stdout).not.toContain('probe');
    const { exitCode, stdout } = await ask('explain', 'default/web', '--probe');
    expect(stdout).toContain('  probe of 10.244.1.11:8080/TCP: connected, route through lo\n');
    expect(stdout).toMatch(
      /^ {2}probe of 10\.244\.1\.12:8080\/TCP: (no answer within 1 s|connect EHOSTUNREACH .*), route through cni0, neighbour (FAILED|INCOMPLETE)$/m,
    );
    expect(exitCode).toBe(1);
  });

  it('is good all the same where Services contradict each other or are invalid, and names them', async () => {
    const invalid = { ...idle, name: 'bad', clusterIP: '172.30.20.300' };
    await place([web, idle, rival, invalid], headless);
    await until('the invalid one is known', async () => (await statusNow()).ignored.length > 0);
    await until('everything is programmed', idleNow);
    const { stdout } = await ask('status');
    expect(stdout).toMatch(/^node1: ok\n {2}warning: 1 object is ignored\n/);
    expect(stdout).toMatch(
      /^ {4}warning: default\/zrival: 172\.30\.20\.6:80\/TCP belongs to default\/web:http$/m,
    );
    expect(stdout).toMatch(/^ {2}ignored: .*Service default\/bad: /m);
    expect(await ask('explain', 'default/zrival')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining(
        'cluster-ip 172.30.20.6:80 (Cluster): belongs to default/web:http, packets go to its 2 endpoints 10.244.1.11:8080, 10.244.1.12:8080\n',
      ) as string,
    });
    const failing = await ask('services', '--problems');
    expect(failing.stdout).toMatch(/zrival .* warning .*172\.30\.20\.6:80\/TCP belongs to default\/web:http/);
    expect((await node.get('http://127.0.0.1:10256/healthz')).status).toBe(200);
    expect((await node.get('http://127.0.0.1:10256/readyz')).status).toBe(200);
    expect((await ask('explain', 'default/bad')).stdout).toMatch(
      /^default\/bad: error: it is invalid and ignored: /,
    );
  });

  it('by one that nobody runs for is told with 3', async () => {
    for (const args of [['status'], ['explain', 'a/b']])
      expect((await ask(...args, '--metrics-bind-address', '127.0.0.1:1')).exitCode).toBe(3);
    const client = expect.stringMatching(/^client: .*\n$/) as string;
    const elsewhere = ['version', '--metrics-bind-address', '127.0.0.1:1'];
    expect(await ask(...elsewhere)).toMatchObject({ exitCode: 3, stdout: client });
    expect(await ask(...elsewhere, '--client')).toMatchObject({ exitCode: 0, stdout: client, stderr: '' });
  });
});

it('a proxy that was never able to program anything exits with 1', async () => {
  const namespaceOfItsOwn = await Namespace.open('notserving');
  const host = new Host(namespaceOfItsOwn.name);
  const owner = await TableOwner.start(host);
  const never = await Command.start(host, [...flags, '--manifests', file()]);
  try {
    await until('the failure is told', () => Promise.resolve(never.log.includes('sync failed')));
    const { exitCode, stdout } = await Command.run(host, ['status']);
    expect(stdout).toMatch(/^node1: not serving\n {2}reason: IPv4 was never programmed\n/);
    expect(stdout).toMatch(/^ {2}last error: 20\S+ IPv[46]: a sync failed: .*no other owner of the table/m);
    expect(exitCode).toBe(1);
  } finally {
    if (never.running) await never.stop('SIGKILL');
    await owner.stop();
    await namespaceOfItsOwn.close();
  }
});
