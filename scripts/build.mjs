import { build } from 'esbuild';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bundleOptions, pageOptions } from './bundle-options.mjs';

const [{ outputFiles: program }, { outputFiles: page }] = await Promise.all([
  build({
    ...bundleOptions,
    entryPoints: { kubeproxy: 'src/bootstrap/main.ts' },
    outdir: 'dist',
    // Dynamic imports become separate files, which are read only when needed.
    splitting: true,
    write: false,
  }),
  build({ ...pageOptions, outdir: 'dist/page', write: false }),
]);

// A file that is there already is replaced as a whole.
await mkdir('dist/page', { recursive: true });
for (const { path, contents } of [...program, ...page]) {
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}

// Files of an earlier build are removed last, so that a program that starts meanwhile finds one build or the other.
const made = new Set(program.map(({ path }) => path));
for (const entry of await readdir('dist', { withFileTypes: true }))
  if (entry.isFile() && !made.has(resolve('dist', entry.name))) await rm(resolve('dist', entry.name));
