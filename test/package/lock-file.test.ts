import { execa } from 'execa';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe.each([
  ['the program', repository],
  ['the Nodes of the tests', join(repository, 'test/node-releases')],
])('package-lock.json of %s', (_, root) => {
  const lockedPackages = async (): Promise<Readonly<Record<string, LockedPackage>>> =>
    JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')).packages;

  it('holds the optional packages of every platform, so that `npm ci` works on all of them', async () => {
    const packages = await lockedPackages();
    const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages[`${place}/node_modules/${name}`] && !packages[`node_modules/${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });

  it('has a version and a checksum for each package', async () => {
    const { '': _, ...packages } = await lockedPackages();
    const loose = Object.entries(packages).filter(([, { version, integrity }]) => !version || !integrity);
    expect(loose).toEqual([]);
  });

  it('is what `npm ci` takes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-lock-'));
    try {
      for (const file of ['package.json', 'package-lock.json'])
        await cp(join(root, file), join(folder, file));
      const { exitCode, stderr } = await execa('npm', ['ci', '--dry-run', '--ignore-scripts'], {
        cwd: folder,
        reject: false,
      });
      expect(exitCode === 0 || stderr).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 60_000);
});
