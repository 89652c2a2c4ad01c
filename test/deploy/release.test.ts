import { execa } from 'execa';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { builtProxy } from '../support/program/built-proxy.js';
import { nightly } from '../support/nightly.js';
import { until } from '../support/until.js';
import { CLUSTER_TOOLS, manifestsIn } from './cluster-tools.js';

interface Chart {
  readonly version: string;
  readonly appVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Kustomization {
  readonly images: readonly { readonly newName?: string; readonly newTag: string }[];
}
interface Workflow {
  readonly jobs: { readonly release: { readonly steps: readonly { readonly run?: string }[] } };
}

const PROCESSORS = ['amd64', 'arm64'];
const helm = resolve(CLUSTER_TOOLS, 'helm/helm');
const read = async <T>(path: string): Promise<T> => parse(await readFile(path, 'utf8')) as T;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A copy of what is published, at another address. */
async function checkoutAt(...address: readonly string[]): Promise<string> {
  const copy = await mkdtemp(join(folder, 'checkout-'));
  for (const path of ['deploy', 'scripts', 'docs', 'package.json', 'README.md', 'CHANGELOG.md'])
    await cp(path, join(copy, path), { recursive: true });
  await execa(process.execPath, ['scripts/address.mjs', ...address], { cwd: copy });
  return copy;
}

describe('a release', () => {
  it('has one version and one image everywhere', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const chart = await read<Chart>('deploy/chart/Chart.yaml');
    expect(chart).toMatchObject({ version, appVersion: version });
    const [shown] = parse(chart.annotations['artifacthub.io/images']!) as readonly object[];
    const platforms = PROCESSORS.map((processor) => `linux/${processor}`);
    expect(shown).toMatchObject({ image: `ghcr.io/OWNER/kube-proxy-ts:${version}`, platforms });
    const { image } = await read<{ image: object }>('deploy/chart/values.yaml');
    expect(image).toMatchObject({ repository: 'ghcr.io/OWNER/kube-proxy-ts', tag: '', digest: '' });
    for (const path of ['base', 'overlays/replace-kubeadm']) {
      const { images } = await read<Kustomization>(`deploy/${path}/kustomization.yaml`);
      expect(images.map(({ newTag }) => newTag)).toEqual([version]);
    }
  });

  it('pushes what its image script makes, for each processor', async () => {
    const { jobs } = await read<Workflow>('.github/workflows/release.yml');
    const script = jobs.release.steps.map(({ run = '' }) => run).join('\n');
    const { stdout } = await execa('sed', [
      '-n',
      's/^\\(amd64\\|arm64\\)) cpu=.*/\\1/p',
      'deploy/image/build.sh',
    ]);
    expect(stdout.split('\n')).toEqual(PROCESSORS);
    expect(script).toContain(`for arch in ${PROCESSORS.join(' ')}; do`);
    const archives = PROCESSORS.map((one) => `build/kube-proxy-ts-${one}.tar`);
    expect(script).toContain(`deploy/release.sh "$REGISTRY" ${archives.join(' ')} |`);
    expect(script).toContain('npm run address -- "$GITHUB_REPOSITORY_OWNER"');
    // Nothing else is pushed, or signed by its name alone.
    expect(script).not.toMatch(/skopeo copy|helm push/);
    expect(script.match(/cosign sign .*/g)!.every((line) => /\$image"|digest/.test(line))).toBe(true);
  });

  it('has no placeholder once its address is set', async () => {
    const copy = await checkoutAt('Some-Body');
    const { stdout } = await execa('grep', ['-rlE', 'github.com/OWNER|ghcr.io/OWNER', '.'], {
      cwd: copy,
      reject: false,
    });
    // The image of a release is a placeholder in this script's own text.
    expect(stdout.split('\n').filter((path) => path !== '' && !path.endsWith('scripts/address.mjs'))).toEqual(
      [],
    );
    const { image } = await read<{ image: object }>(join(copy, 'deploy/chart/values.yaml'));
    expect(image).toMatchObject({ repository: 'ghcr.io/some-body/kube-proxy-ts' });
    const { homepage } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8')) as {
      homepage: string;
    };
    expect(homepage).toContain('github.com/Some-Body/');
  });

  it('is refused if the chart would install another image', async () => {
    const pushing = execa('deploy/release.sh', ['registry.example']);
    await expect(pushing).rejects.toThrow('run npm run address -- NAME registry.example');
  });
});

/** An archive of each processor: of the image itself by night, else of a small file. */
async function archives(): Promise<readonly string[]> {
  await builtProxy();
  return Promise.all(
    PROCESSORS.map(async (processor) => {
      const [root, archive] = [join(folder, processor), join(folder, `${processor}.tar`)];
      if (nightly) await execa('deploy/image/build.sh', [root, archive], { env: { ARCH: processor } });
      else {
        await mkdir(root);
        await writeFile(join(root, 'processor'), processor);
        await execa(process.execPath, ['deploy/image/archive.mjs', root, archive, processor]);
      }
      return archive;
    }),
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

it('joins the archives of processors into an index', async () => {
  const joined = join(folder, 'joined.tar');
  await execa(process.execPath, ['deploy/image/join.mjs', joined, ...(await archives())]);
  const layout = join(folder, 'layout');
  await mkdir(layout);
  await execa('tar', ['-xf', joined, '-C', layout]);
  const blob = (digest: string) => read<Index>(join(layout, 'blobs', digest.replace(':', '/')));
  const outer = await read<Index>(join(layout, 'index.json'));
  const { manifests } = await blob(outer.manifests[0]!.digest);
  expect(manifests.map(({ platform }) => platform!.architecture)).toEqual(PROCESSORS);
  for (const { digest, platform } of manifests) {
    const { config } = (await blob(digest)) as unknown as { config: { digest: string } };
    expect(await blob(config.digest)).toMatchObject({ os: 'linux', architecture: platform!.architecture });
  }
}, 600_000);

interface Index {
  readonly manifests: readonly {
    readonly digest: string;
    readonly platform?: { readonly architecture: string };
  }[];
}

if (nightly)
  it('can be pulled from a registry: image and chart', async () => {
    const port = await freePort();
    const registry = `localhost:${port}`;
    const configuration = {
      version: 0.1,
      storage: { filesystem: { rootdirectory: join(folder, 'registry') } },
      http: { addr: `127.0.0.1:${port}` },
    };
    await writeFile(join(folder, 'registry.json'), JSON.stringify(configuration));
    const containerd = join(folder, 'containerd');
    const socket = join(containerd, 'socket');
    const daemons = [
      execa('docker-registry', ['serve', join(folder, 'registry.json')], { reject: false }),
      execa(
        'containerd',
        ['--root', join(containerd, 'root'), '--state', join(containerd, 'state'), '--address', socket],
        { reject: false },
      ),
    ];
    try {
      const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
      const copy = await checkoutAt('some-body', registry);
      await until('the registry listens', async () => (await fetch(`http://${registry}/v2/`)).ok);
      const paths = PROCESSORS.map((processor) => join(folder, `${processor}.tar`));
      const env = { PLAIN_HTTP: '1', HELM: helm };
      const { stdout } = await execa('deploy/release.sh', [registry, ...paths], { cwd: copy, env });
      const [image, chart] = stdout.split('\n').map((line) => line.split(' ')[1]!);

      await execa(helm, [
        'pull',
        `oci://${registry}/charts/kube-proxy-ts`,
        '--plain-http',
        '--destination',
        folder,
      ]);
      expect(chart).toMatch(/^localhost:\d+\/charts\/kube-proxy-ts@sha256:[0-9a-f]{64}$/);
      const values = ['apiServer=https://192.0.2.1:6443', 'clusterCIDR=10.244.0.0/16'];
      const packed = join(folder, `kube-proxy-ts-${version}.tgz`);
      const rendered = await execa(helm, ['template', 'kube-proxy-ts', packed, '--set', values.join()]);
      const daemonSet = manifestsIn(rendered.stdout).find(({ kind }) => kind === 'DaemonSet');
      expect(JSON.stringify(daemonSet)).toContain(`"image":"${registry}/kube-proxy-ts:${version}"`);

      const ctr = (...args: readonly string[]) => execa('ctr', ['--address', socket, ...args]);
      await until('containerd answers', async () => (await ctr('version')).exitCode === 0);
      const tag = `${registry}/kube-proxy-ts:${version}`;
      for (const processor of PROCESSORS)
        await ctr('content', 'fetch', '--plain-http', '--platform', `linux/${processor}`, tag);
      const { stdout: images } = await ctr('images', 'list');
      expect(images).toContain(image!.split('@')[1]!);
      for (const processor of PROCESSORS) expect(images).toContain(`linux/${processor}`);
    } finally {
      for (const daemon of daemons) daemon.kill();
      await Promise.all(daemons);
    }
  }, 600_000);
