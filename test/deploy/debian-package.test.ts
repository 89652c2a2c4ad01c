import { execa } from 'execa';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nightly } from '../support/nightly.js';
import { Namespace } from '../support/program/in-namespace.js';
import { UNCOMPRESSED } from './uncompressed.js';

const NAME = 'kube-proxy-ts';
const UNIT = `deploy/systemd/${NAME}.service`;

/** A small Debian of its own, in which the package is installed and removed; its network is a namespace of its own. */
describe('the Debian package', () => {
  let folder: string;
  let archive: string;
  let namespace: Namespace;
  const root = (): string => join(folder, 'debian');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kube-proxy-debian-'));
    namespace = await Namespace.open('debian');
    const [{ stdout }] = await Promise.all([
      execa('deploy/debian/build.sh', [join(folder, 'package')], { env: UNCOMPRESSED }),
      execa('mmdebstrap', ['--quiet', '--variant=essential', '--include=nodejs', 'trixie', root()]),
    ]);
    archive = stdout;
    await mkdir(join(root(), 'package'));
    await cp(archive, join(root(), 'package/it.deb'));
  }, 180_000);

  afterAll(async () => {
    await namespace?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const inside = (...command: readonly string[]): Promise<string> =>
    namespace.run(['chroot', root(), ...command]);

  /** The files of the package that are there. */
  async function installed(): Promise<readonly string[]> {
    const { stdout } = await execa('find', [root(), '-path', `*${NAME}*`, '-not', '-path', '*/dpkg/*']);
    return stdout.split('\n').filter((path) => path !== '');
  }

  it('is one that Debian installs, whose program runs', async () => {
    await inside('dpkg', '--install', '/package/it.deb');
    expect(await inside('kubeproxy', '--version')).toContain('Kubernetes v1.37');
    expect(await inside('kubeproxy', 'validate', `/etc/${NAME}/manifests`)).toContain(
      'valid: 1 object in 1 file',
    );
    const owned = await inside('dpkg', '--listfiles', NAME);
    expect(owned).toContain(`/usr/lib/systemd/system/${NAME}.service`);
    expect(owned).toContain(`/usr/share/doc/${NAME}/one-machine/web.yaml`);
    for (const page of ['man1/kubeproxy.1', 'man1/kubectl-kubeproxy.1', `man8/${NAME}.8`])
      expect(owned).toContain(`/usr/share/man/${page}.gz`);
    expect(await inside('kubectl-kubeproxy', '--help')).toContain('kubectl kubeproxy');
    const copyright = await inside('cat', `/usr/share/doc/${NAME}/copyright`);
    expect(copyright).toMatch(/^Copyright: .*\nLicense: Apache-2\.0\n/);
    expect(copyright).toContain(
      await readFile('dist/THIRD-PARTY-NOTICES', 'utf8').then((text) => text.trim()),
    );
  });

  it('serves, and takes its rules away when it is removed', async () => {
    const config = `/etc/${NAME}/config.yaml`;
    const manifests = `/etc/${NAME}/manifests`;
    await cp('examples/one-machine/web.yaml', join(root(), manifests, 'web.yaml'));
    await inside('kubeproxy', '--once', `--config=${config}`, `--manifests=${manifests}`);
    expect(await namespace.run(['nft', 'list', 'tables'])).toContain('table ip kube-proxy');
    await rm(join(root(), manifests, 'web.yaml'));
    await inside('dpkg', '--remove', NAME);
    expect(await namespace.run(['nft', 'list', 'tables'])).toBe('');
    expect(await readdir(join(root(), 'etc', NAME))).toEqual(['config.yaml', 'manifests']);
    await inside('dpkg', '--purge', NAME);
    expect(await installed()).toEqual([]);
  });

  if (nightly)
    it('is the same, byte for byte, when it is built again', async () => {
      const { stdout: again } = await execa('deploy/debian/build.sh', [join(folder, 'again')], {
        env: UNCOMPRESSED,
      });
      await execa('cmp', [archive, again]);
    });
});

describe('the unit', () => {
  it('is one that systemd takes', async () => {
    const { all, exitCode } = await execa('systemd-analyze', ['verify', UNIT], { all: true, reject: false });
    const complaints = all
      .split('\n')
      .filter((line) => line !== '' && !line.includes('/usr/bin/kubeproxy is not executable'));
    expect([complaints, exitCode === 0 || all.includes('not executable')]).toEqual([[], true]);
  });

  it('exposes little', async () => {
    const { stdout } = await execa('systemd-analyze', ['security', '--offline=true', UNIT], {
      reject: false,
    });
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)![1])).toBeLessThan(2.5);
  });
});
