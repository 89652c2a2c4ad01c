import { execa, type ResultPromise } from 'execa';
import { chmod, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '../support/program/command.js';
import { readUnit } from '../support/program/unit.js';
import { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askTimes } from '../support/testbed/traffic.js';

const ADDRESS = '192.0.2.1';
const PORTS = [8081, 8082, 8083];
const UNIT = 'usr/lib/systemd/system/kube-proxy-ts.service';

/** The example of one machine, with the files of the Debian package, as the user and with the capabilities that its unit gives. */
describe('three servers on one machine, without a cluster', () => {
  let testbed: Testbed;
  let root: string;
  let servers: readonly Host[];
  let proxy: Command;
  let check: ResultPromise;
  const manifests = (): string => join(root, 'etc/kube-proxy-ts/manifests');

  beforeAll(async () => {
    testbed = await Testbed.open();
    root = await mkdtemp(join(tmpdir(), 'one-machine-'));
    await chmod(root, 0o755);
    const { stdout: archive } = await execa('deploy/debian/build.sh', [join(root, 'package')]);
    await execa('dpkg-deb', ['--extract', archive, root]);
    // The package's own files are as dpkg would lay them out; what the archive was unpacked over keeps its mode.
    await chmod(root, 0o755);

    const { node } = testbed;
    await node.run(['ip', 'address', 'add', `${ADDRESS}/32`, 'dev', 'lo']);
    servers = PORTS.map(() => new Host(node.name));
    await Promise.all(servers.map((_, index) => serve(index)));

    const unit = await readFile(join(root, UNIT), 'utf8');
    const { command, privileges } = readUnit(unit.replaceAll('/etc/', `${root}/etc/`));
    // The user cannot read the folder of the checkout, if it is one of root's.
    const ownNode = join(root, 'node');
    await copyFile(process.execPath, ownNode);
    proxy = await Command.start(node, command.slice(1), {
      node: ownNode,
      program: join(root, 'usr/lib/kube-proxy-ts/bin/kubeproxy'),
      prepare: `exec ${privileges.join(' ')} "$@"`,
    });

    const example = join(root, 'usr/share/doc/kube-proxy-ts/one-machine');
    await copyFile(join(example, 'web.yaml'), join(manifests(), 'web.yaml'));
    const [file, ...rest] = node.commandLine([
      ...[process.execPath, join(example, 'check-health.mjs'), 'default/web', 'http'],
      join(manifests(), 'web-endpoints.json'),
      ...PORTS.map((port) => `http://${ADDRESS}:${port}/`),
    ]);
    check = execa(file!, rest, { reject: false, buffer: false, stdout: 'ignore', stderr: 'inherit' });
  });

  afterAll(async () => {
    check?.kill('SIGKILL');
    await check;
    if (proxy?.running) await proxy.stop('SIGKILL');
    await Promise.all((servers ?? []).map((server) => server.killAgent()));
    await testbed?.close();
    await rm(root, { recursive: true, force: true });
  });

  const serve = (index: number): Promise<unknown> =>
    servers[index]!.ask('serve', { name: `server-${index + 1}`, port: PORTS[index] });

  /** Who answers twenty requests, through a node port from outside and the cluster IP from the machine itself. */
  async function answering(): Promise<readonly string[]> {
    const outside = { what: 'http' as const, dst: '198.51.100.11', port: 30080 };
    const inside = { what: 'http' as const, dst: '10.96.0.80', port: 80 };
    const names = [
      ...(await askTimes(20, testbed.ext, outside)),
      ...(await askTimes(20, testbed.node, inside)),
    ];
    return [...new Set(names)].sort();
  }

  const eventually = (names: readonly string[]): Promise<void> =>
    proxy.until(
      `${names.join()} answer`,
      async () => (await answering().catch(() => [])).join() === names.join(),
    );

  it('are reached through one address, from the machine and from outside', async () => {
    await eventually(['server-1', 'server-2', 'server-3']);
    expect(proxy.log).not.toMatch(/"?level"?[:=]"?error|^E\d/m);
  });

  it('get no connection while they do not answer their health check', async () => {
    await servers[1]!.killAgent();
    await eventually(['server-1', 'server-3']);
    await serve(1);
    await eventually(['server-1', 'server-2', 'server-3']);
  });
});
