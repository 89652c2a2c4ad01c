import { execa } from 'execa';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The packed package as somebody else has it: installed in a folder of its own, with its dependencies and the types of
 * Node, and nothing else. These are links to those of this checkout, so that no registry is asked.
 */
export class InstalledPackage {
  private constructor(
    /** Where a program that uses the package would be. */
    readonly folder: string,
  ) {}

  static async make(): Promise<InstalledPackage> {
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-package-'));
    const installed = new InstalledPackage(folder);
    try {
      await execa('npm', ['run', 'build:library'], { cwd: repository });
      await installed.unpack();
      return installed;
    } catch (error) {
      await installed.remove();
      throw error;
    }
  }

  /** Where the package is installed. */
  get root(): string {
    return join(this.folder, 'node_modules/kube-proxy-ts');
  }

  /** The packed package. */
  get archive(): string {
    return join(this.folder, 'kube-proxy-ts.tgz');
  }

  /** The files of the package, relative to it. */
  async files(): Promise<readonly string[]> {
    return readdir(this.root, { recursive: true });
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private async unpack(): Promise<void> {
    const { stdout } = await execa(
      'npm',
      ['pack', '--ignore-scripts', '--json', '--pack-destination', this.folder],
      { cwd: repository },
    );
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const modules = join(this.folder, 'node_modules');
    await rename(join(this.folder, filename), this.archive);
    await mkdir(this.root, { recursive: true });
    await execa('tar', ['-xzf', this.archive, '-C', this.root, '--strip-components=1']);
    const { dependencies } = JSON.parse(await readFile(join(this.root, 'package.json'), 'utf8'));
    for (const name of [...Object.keys(dependencies), '@types/node']) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(repository, 'node_modules', name), join(modules, name));
    }
  }
}
