import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
/** What a clone does not have. */
const MADE = /\/(?:\.git|node_modules|dist|lib|build|coverage|cluster-tools\/bin|[^/]*\.log)$/;

/** What is only read, and is most files of a clone. */
const READ = ['bench', 'node_modules', 'site', 'src', 'test'];

/** A copy of this checkout as it was cloned: nothing is built in it. Its packages and sources are links to those of this checkout. */
export class FreshCheckout {
  private constructor(readonly folder: string) {}

  static async make(): Promise<FreshCheckout> {
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-checkout-'));
    const linked = new Set(READ.map((name) => join(repository, name)));
    await cp(repository, folder, {
      recursive: true,
      filter: (path) => !MADE.test(path) && !linked.has(path),
    });
    await Promise.all(READ.map((name) => symlink(join(repository, name), join(folder, name))));
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
