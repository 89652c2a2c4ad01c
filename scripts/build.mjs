import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { load } from './docs/load.mjs';
import { bundledPackages, packageIn } from './bundled-packages.mjs';
import { bundleOptions, pageOptions } from './bundle-options.mjs';
import { thirdPartyNotices } from './third-party-notices.mjs';

const [program, page] = await Promise.all([
  build({
    ...bundleOptions,
    entryPoints: { kubeproxy: 'src/main.ts' },
    outdir: 'dist',
    // Dynamic imports become separate files, which are read only when needed.
    splitting: true,
    define: { 'process.env.KUBE_PROXY_TS_COMMIT': JSON.stringify(commit()) },
    write: false,
    metafile: true,
  }),
  build({ ...pageOptions, outdir: 'dist/page', write: false, metafile: true }),
]);

const packages = await bundledPackages([program.metafile, page.metafile]);
const external = await Promise.all(bundleOptions.external.map((name) => packageIn(`node_modules/${name}`)));
const listed = packages.map(({ name, version, license }) => ({ name, version, license }));
const accounts = [
  { path: resolve('dist/bundled-packages.json'), contents: `${JSON.stringify(listed, undefined, 2)}\n` },
  {
    path: resolve('dist/THIRD-PARTY-NOTICES'),
    contents: `${await thirdPartyNotices([...packages, ...external])}\n`,
  },
];

// A file that is there already is replaced as a whole.
await mkdir('dist/page', { recursive: true });
for (const { path, contents } of [...program.outputFiles, ...page.outputFiles, ...accounts]) {
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}

// Files of an earlier build are removed last, so that a program that starts meanwhile finds one build or the other.
const made = new Set([...program.outputFiles, ...accounts].map(({ path }) => path));
for (const name of await readdir('dist'))
  if (name !== 'page' && !made.has(resolve('dist', name)))
    await rm(resolve('dist', name), { recursive: true });

const { jsonSchemas } = await load('json-schemas');
await mkdir('schemas', { recursive: true });
for (const { path, text } of jsonSchemas()) await writeFile(path, text);

/** What is built; nothing where that is no checkout, as in a package. */
function commit() {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', 'HEAD'], options).trim();
  } catch {
    return '';
  }
}
