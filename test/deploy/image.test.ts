import { execa, type ResultPromise } from 'execa';
import type { V1ConfigMap, V1Container, V1DaemonSet, V1PodSpec } from '@kubernetes/client-node';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { serviceObjects, testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { nightly } from '../support/nightly.js';
import { Driver, DriverBundle } from '../support/program/in-namespace.js';
import type { StandInDriver } from '../kernel/stand-in/driver.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend } from '../support/testbed/traffic.js';
import { InVain, until } from '../support/until.js';
import { expectRightDigests } from './archive-digests.js';
import { kustomize } from './cluster-tools.js';
import { Image, type Volumes } from './image.js';

const clusterIP = '172.30.0.80';
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Where the header of a program says for which processor it is, and what it says for arm64. */
const MACHINE = 18;
const AARCH64 = 183;
/** Every container of a pod has it, by the API server's own doing. */
const accountMount = { name: 'account', mountPath: accountFolder, readOnly: true };

let image: Image;
let bundle: DriverBundle<StandInDriver>;

beforeAll(async () => {
  [image, bundle] = await Promise.all([
    Image.build({ packed: nightly }),
    DriverBundle.make<StandInDriver>(new URL('../kernel/stand-in/driver.ts', import.meta.url)),
  ]);
}, 300_000);
afterAll(async () => {
  await Promise.all([image?.remove(), bundle?.remove()]);
});

describe('what the image is made of', () => {
  const document = async () =>
    JSON.parse(
      await readFile(join(image.root, 'usr/share/doc/kube-proxy-ts/sbom.spdx.json'), 'utf8'),
    ) as Bill;

  it('is listed, with versions and licenses', async () => {
    const { spdxVersion, packages, relationships } = await document();
    expect(spdxVersion).toBe('SPDX-2.3');
    expect(packages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['libc6', 'iptables', 'ipset', 'kube-proxy-ts', 'commander', 'koffi']),
    );
    expect(packages.filter(({ versionInfo }) => !/^[\w.:+~-]+$/.test(versionInfo))).toEqual([]);
    expect(new Set(packages.map(({ SPDXID }) => SPDXID)).size).toBe(packages.length);
    expect(relationships).toHaveLength(packages.length);
    const declared = packages.map(
      ({ licenseDeclared, licenseComments }) => licenseComments ?? licenseDeclared,
    );
    expect(declared.filter((license) => !license || license === 'NOASSERTION')).toEqual([]);
  });

  it('is all there is: every library is of a package of the list, and each keeps its copyright', async () => {
    const { packages } = await document();
    const debian = packages.filter(({ licenseComments }) => licenseComments !== undefined);
    const documented = await readdir(join(image.root, 'usr/share/doc'));
    expect(documented.filter((name) => !['node', 'kube-proxy-ts'].includes(name)).sort()).toEqual(
      debian.map(({ name }) => name).sort(),
    );
  });

  it('has the man pages', async () => {
    const folder = join(image.root, 'usr/share/man');
    expect((await readdir(folder, { recursive: true })).filter((path) => path.includes('/')).sort()).toEqual([
      'man1/kubectl-kubeproxy.1',
      'man1/kubeproxy.1',
      'man8/kube-proxy-ts.8',
    ]);
  });

  it('comes with the licenses of the program, of each package in it, and of Node with all that Node contains', async () => {
    const documents = join(image.root, 'usr/share/doc');
    const read = (path: string): Promise<string> => readFile(join(documents, path), 'utf8');
    expect(await read('kube-proxy-ts/copyright')).toBe(await readFile('LICENSE', 'utf8'));
    expect(await read('kube-proxy-ts/THIRD-PARTY-NOTICES')).toBe(
      await readFile('dist/THIRD-PARTY-NOTICES', 'utf8'),
    );
    for (const contained of ['Node.js', 'V8', 'OpenSSL', 'ICU', 'libuv'])
      expect(await read('node/copyright')).toContain(contained);
  });

  it('is neither a shell nor a package manager, nor a name of the machine that built it', async () => {
    const { stdout } = await execa('find', [image.root, '-printf', '%P\n']);
    const files = stdout.split('\n');
    expect(
      files.filter((file) => /\/(sh|bash|dash|busybox|apt(-get)?|dpkg|npm)$|^etc\/apt/.test(file)),
    ).toEqual([]);
    expect(await readFile(join(image.root, 'etc/hostname'), 'utf8')).toBe('');
    const own = await stat(join(image.root, 'usr/bin/node'));
    expect(own.mode & 0o7777).toBe(0o755);
    const { stdout: special } = await execa('find', [image.root, '-perm', '/6000']);
    expect(special).toBe('');
  });
});

if (nightly) {
  // Of a small file system, test/package/image-build has shown it.
  it('packs the file system into an archive in which every digest is right', async () => {
    await expectRightDigests(image.archive);
  });

  it('is the same, byte for byte, when it is built again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kube-proxy-again-'));
    const again = join(folder, 'root');
    try {
      await execa('deploy/image/build.sh', [again]);
      // What an archive is made from: names, modes and contents of all files, in one order and with one time.
      const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
      const digests = [again, image.root].map(async (root) => {
        const command = `tar ${fixed.join(' ')} -C "$1" -cf - . | sha256sum`;
        return (await execa('sh', ['-c', command, 'sh', root])).stdout;
      });
      const [one, other] = await Promise.all(digests);
      expect(one).toBe(other);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 300_000);

  it('is built for arm64 as well, of programs for that processor', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kube-proxy-arm64-'));
    const root = join(folder, 'root');
    try {
      await execa('deploy/image/build.sh', [root], { env: { ARCH: 'arm64' } });
      const elf = async (path: string): Promise<number> =>
        (await readFile(join(root, path))).readUInt16LE(MACHINE);
      expect(await elf('usr/bin/node')).toBe(AARCH64);
      expect(await elf('usr/sbin/ipset')).toBe(AARCH64);
      const koffi = 'opt/kube-proxy/node_modules/@koromix/koffi-linux-arm64/linux_arm64/koffi.node';
      expect(await elf(koffi)).toBe(AARCH64);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 300_000);
}

describe.each(nightly ? ['iptables', 'nftables', 'userspace'] : ['nftables'])(
  'the pod of overlay %s',
  (overlay) => {
    let testbed: Testbed;
    let api: Driver<StandInDriver>;
    let folder: string;
    let pod: V1PodSpec;
    let volumes: Volumes;
    let running: ResultPromise | undefined;
    let log = '';

    beforeAll(async () => {
      testbed = await Testbed.open();
      api = new Driver<StandInDriver>(testbed.node.name, bundle.file);
      const backend = await Backend.start(testbed, 'web', '10.244.1.80');
      const web = {
        name: 'web',
        clusterIP,
        ports: [{ name: 'http', protocol: 'TCP' as const, port: 80, targetPort: backend.port }],
        endpoints: [backend.address],
      };
      await api.ask('put', [testNode, testServiceCidr, ...serviceObjects(web)] as never);
      const manifests = await kustomize(`deploy/overlays/${overlay}`);
      pod = (manifests.find(({ kind }) => kind === 'DaemonSet') as V1DaemonSet).spec!.template.spec!;
      folder = await mkdtemp(join(tmpdir(), 'kube-proxy-pod-'));
      const { data } = manifests.find(({ kind }) => kind === 'ConfigMap') as V1ConfigMap;
      volumes = await writeVolumes(folder, data!, api);
    });
    afterAll(async () => {
      running?.kill('SIGKILL');
      await running;
      await api?.close();
      await testbed?.close();
      await rm(folder, { recursive: true, force: true });
    });

    const commandLine = (container: V1Container): string[] =>
      image.commandLine(
        testbed.node,
        { ...container, volumeMounts: [...(container.volumeMounts ?? []), accountMount] },
        volumes,
      );

    it('sets the kernel up in its init container, and ends', async () => {
      const [file, ...args] = commandLine(pod.initContainers![0]!);
      const { exitCode, all } = await execa(file!, args, { reject: false, all: true });
      expect([exitCode, exitCode === 0 ? '' : all]).toEqual([0, '']);
    });

    it('serves real packets with the capabilities of its container', async () => {
      const [file, ...args] = commandLine(pod.containers[0]!);
      running = execa(file!, args, { reject: false, buffer: false, all: true, stdin: 'ignore' });
      running.all!.on('data', (chunk: Buffer) => (log += chunk.toString()));
      await until('the proxy is ready', async () => {
        if (running!.exitCode !== null) throw new InVain(log);
        return (await testbed.node.get('http://127.0.0.1:10256/readyz')).status === 200;
      });
      const destination = { what: 'http' as const, dst: clusterIP, port: 80 };
      await until('a request is answered', async () => (await askOnce(testbed.pod, destination)) === 'web');
      const capabilities = await heldCapabilities(testbed.node.name);
      expect(capabilities).toBe(1 << 12); // CAP_NET_ADMIN
    });

    it.each(['kube-proxy', 'kubeproxy'])('has the commands as %s', async (name) => {
      const [file, ...args] = commandLine({ ...pod.containers[0]!, command: [name, 'status'] });
      const { stdout } = await execa(file!, args, { reject: false });
      expect(stdout).toMatch(/^node1: /);
    });

    it('has the plugin of kubectl', async () => {
      const [file, ...args] = commandLine({
        ...pod.containers[0]!,
        command: ['kubectl-kubeproxy', '--help'],
      });
      expect((await execa(file!, args)).stdout).toContain('kubectl kubeproxy');
    });
  },
);

interface Bill {
  readonly spdxVersion: string;
  readonly packages: readonly {
    readonly SPDXID: string;
    readonly name: string;
    readonly versionInfo: string;
    readonly licenseDeclared: string;
    readonly licenseComments?: string;
  }[];
  readonly relationships: readonly object[];
}

/** The config map and the service account's secret as folders; the API server's address is that of the stand-in. */
async function writeVolumes(
  folder: string,
  data: Readonly<Record<string, string>>,
  api: Driver<StandInDriver>,
): Promise<Volumes> {
  const [config, account] = [join(folder, 'config'), join(folder, 'account')];
  await mkdir(config);
  await mkdir(account);
  const kubeconfig = parse(data['kubeconfig.conf']!);
  kubeconfig.clusters[0].cluster.server = await api.ask('url');
  await writeFile(join(config, 'kubeconfig.conf'), stringify(kubeconfig));
  // The size of the connection table is the machine's, not the network namespace's: it stays as it is.
  const configuration = { ...parse(data['config.conf']!), conntrack: { maxPerCore: 0, min: 0 } };
  await writeFile(join(config, 'config.conf'), stringify(configuration));
  const authority = join(dirname(await api.ask('kubeconfig')), 'ca.crt');
  await writeFile(join(account, 'ca.crt'), await readFile(authority));
  await writeFile(join(account, 'token'), 'stand-in-token');
  return { config, account };
}

/** The capabilities of the proxy that runs in a network namespace, as a bit mask. */
async function heldCapabilities(namespace: string): Promise<number> {
  const { stdout } = await execa('ip', ['netns', 'pids', namespace]);
  for (const pid of stdout.trim().split('\n')) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const [program, ...words] = command.split('\0');
    if (program !== '/usr/bin/node' || !words.includes('/usr/local/bin/kube-proxy')) continue;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number.parseInt(/^CapEff:\s*(\w+)$/m.exec(status)![1]!, 16);
  }
  throw new Error('the proxy does not run');
}
