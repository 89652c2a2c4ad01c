/** The planted faults (test/planted-faults), and the program with some of them. */
import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleOptions } from '../bundle-options.mjs';

export const FOLDER = resolve('build/planted');

async function plantedFaults() {
  const outfile = resolve(FOLDER, 'faults.mjs');
  await build({ ...bundleOptions, entryPoints: ['test/planted-faults/faults.ts'], outfile });
  return (await import(pathToFileURL(outfile).href)).FAULTS;
}

/** The faults of these names; all if there are none. */
export async function faultsNamed(names) {
  const all = await plantedFaults();
  const known = all.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no fault is called ${unknown}; there are ${known.join(', ')}`);
  return names ? all.filter(({ name }) => names.includes(name)) : all;
}

/** A text with a fault. */
export function withFault(text, { name, original, fault }) {
  if (text.split(original).length !== 2)
    throw new Error(`fault ${name}: its place is not there exactly once`);
  return text.replace(original, () => fault);
}

/** For esbuild: plants faults in what it bundles. */
export function planting(faults) {
  return {
    name: 'planted faults',
    setup(builder) {
      if (faults.length === 0) return;
      builder.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const planted = faults.filter(({ file }) => resolve(file) === path);
        if (planted.length === 0) return undefined;
        return { contents: planted.reduce(withFault, await readFile(path, 'utf8')), loader: 'ts' };
      });
    },
  };
}

/** Bundles the program with a fault. @returns its path */
export async function programWith(fault) {
  const outfile = resolve(FOLDER, 'program', fault.name, 'kubeproxy.js');
  await build({
    ...bundleOptions,
    entryPoints: ['src/main.ts'],
    outfile,
    plugins: [...bundleOptions.plugins, planting([fault])],
    define: { 'process.env.KUBE_PROXY_TS_COMMIT': '""' },
  });
  return outfile;
}
