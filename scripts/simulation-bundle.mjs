import { build } from 'esbuild';
import { rename } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { bundleOptions, withoutUnused } from './bundle-options.mjs';
import { planting } from './planted/faults.mjs';

const REPLACED = resolve('test/simulation/replaced');

/** Modules of Node and others that touch the machine, and what stands in their place. */
const REPLACEMENTS = new Map(
  Object.entries({
    execa: 'execa.ts',
    fs: 'node-fs.ts',
    'fs/promises': 'node-fs-promises.ts',
    net: 'node-net.ts',
    http: 'node-http.ts',
    https: 'node-https.ts',
    dgram: 'node-dgram.ts',
    os: 'node-os.ts',
    'timers/promises': 'node-timers-promises.ts',
    perf_hooks: 'perf-hooks.ts',
    inspector: 'node-inspector.ts',
    'inspector/promises': 'node-inspector.ts',
  }),
);
const C_LIBRARY = resolve('src/adapters/process/c-library.ts');

/** Everything but the simulation itself, and the model that judges it, runs in the simulated world. */
const inSimulatedWorld = (importer) =>
  ['test/simulation', 'test/model'].every((folder) => relative(resolve(folder), importer).startsWith('..'));

const simulatedWorld = {
  name: 'simulated world',
  setup(builder) {
    builder.onResolve({ filter: /^/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (pluginData === 'seen' || !importer || !inSimulatedWorld(importer)) return undefined;
      const replacement = REPLACEMENTS.get(path.replace(/^node:/, ''));
      if (replacement) return { path: resolve(REPLACED, replacement) };
      if (!/c-library\.js$/.test(path)) return undefined;
      const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: 'seen' });
      return found.path === C_LIBRARY ? { path: resolve(REPLACED, 'c-library.ts') } : found;
    });
  },
};

/**
 * Bundles the program and the simulation into one file, which is there as a whole or not at all.
 * @param faults those to plant
 */
export async function bundleSimulation(outfile, faults = []) {
  const unfinished = `${outfile}.${process.pid}`;
  await build({
    ...bundleOptions,
    entryPoints: ['test/simulation/main.ts'],
    outfile: unfinished,
    // The simulated node:http, not Node's own by require.
    plugins: [withoutUnused, simulatedWorld, planting(faults)],
    inject: [resolve(REPLACED, 'globals.ts')],
    define: {
      'Math.random': '__random',
      'AbortSignal.timeout': '__abortTimeout',
      'AbortSignal.any': '__abortAny',
    },
    sourcemap: 'inline',
  });
  await rename(unfinished, outfile);
}
