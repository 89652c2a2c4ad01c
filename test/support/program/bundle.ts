import { build, type Plugin } from 'esbuild';
import { readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleOptions } from '../../../scripts/bundle-options.mjs';

const tests = fileURLToPath(new URL('../../', import.meta.url));
const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** A file of the tests that looks for others beside itself finds them from within a bundle, too. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!path.startsWith(tests)) return undefined;
      const text = await readFile(path, 'utf8');
      const place = JSON.stringify(pathToFileURL(path).href);
      return { contents: text.replaceAll('import.meta.url', place), loader: 'ts' };
    });
  },
};

/** Makes a TypeScript program of the tests into one file that node runs. The file's folder gets a link to the packages. */
export async function bundle(source: URL, file: string): Promise<void> {
  await symlink(nodeModules, join(dirname(file), 'node_modules'));
  await build({
    ...bundleOptions,
    sourcemap: false,
    entryPoints: [fileURLToPath(source)],
    outfile: file,
    plugins: [ownPlaces],
    // CommonJS packages that look for files beside themselves, in vain, and do without.
    define: { __dirname: '"/"' },
  });
}
