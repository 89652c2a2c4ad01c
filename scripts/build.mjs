import { build } from 'esbuild';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bundledPackages } from './bundled-packages.mjs';
import { bundleOptions, pageOptions } from './bundle-options.mjs';

const [program, page] = await Promise.all([
  build({
    ...bundleOptions,
    entryPoints: { kubeproxy: 'src/bootstrap/main.ts' },
    outdir: 'dist',
    // Dynamic imports become separate files, which are read only when needed.
    splitting: true,
    write: false,
    metafile: true,
  }),
  build({ ...pageOptions, outdir: 'dist/page', write: false, metafile: true }),
]);

// A file that is there already is replaced as a whole.
await mkdir('dist/page', { recursive: true });
const packages = {
  path: resolve('dist/bundled-packages.json'),
  contents: `${JSON.stringify(await bundledPackages([program.metafile, page.metafile]), undefined, 2)}\n`,
};
for (const { path, contents } of [...program.outputFiles, ...page.outputFiles, packages]) {
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}

// Files of an earlier build are removed last, so that a program that starts meanwhile finds one build or the other.
const made = new Set([...program.outputFiles, packages].map(({ path }) => path));
for (const name of await readdir('dist'))
  if (name !== 'page' && !made.has(resolve('dist', name)))
    await rm(resolve('dist', name), { recursive: true });
