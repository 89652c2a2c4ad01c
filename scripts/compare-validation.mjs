/**
 * `node scripts/compare-validation.mjs --kubeconfig FILE [--count 5000] [--seed 1]`: whether `kubeproxy validate` gives the
 * verdict of the API server, for generated manifests. Creates nothing there.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
// Without the plugins: client-node's own way to authenticate is what is needed here.
await build({
  ...bundleOptions,
  plugins: [],
  absWorkingDir: root,
  entryPoints: ['bench/validation/compare.ts'],
  outfile: 'build/compare-validation.js',
});
const { status } = spawnSync(process.execPath, ['build/compare-validation.js', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
