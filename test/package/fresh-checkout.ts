import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
/** What a clone does not have. */
const MADE = /\/(?:\.git|node_modules|dist|lib|build|coverage|cluster-tools\/bin|[^/]*\.log)$/;

const TESTS = join(repository, 'test');

/** A copy of this checkout as it was cloned: nothing is built in it. Its packages are links to those of this checkout. */
export class FreshCheckout {
  private constructor(readonly folder: string) {}

  /** @param tests whether it has the tests, which are most of its files */
  static async make({ tests = true } = {}): Promise<FreshCheckout> {
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-checkout-'));
    await cp(repository, folder, {
      recursive: true,
      filter: (path) => !MADE.test(path) && (tests || path !== TESTS),
    });
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    return new FreshCheckout(folder);
  }

  /** The command lines of a document's shell blocks, without their remarks and what joins them. */
  async commands(document: string): Promise<readonly string[]> {
    const text = await readFile(join(this.folder, document), 'utf8');
    const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!);
    return blocks.flatMap((block) =>
      block.split('\n').flatMap(
        (line) =>
          line
            .replace(/\s+# .*$/, '')
            .replace(/&&\s*$/, '')
            .trim() || [],
      ),
    );
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
