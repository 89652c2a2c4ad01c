import { build } from 'esbuild';
import { rm } from 'node:fs/promises';
import { bundleOptions } from './bundle-options.mjs';
import { oneByteSource } from './one-byte-source.mjs';

await rm('dist', { recursive: true, force: true });
await build({
  ...bundleOptions,
  plugins: [oneByteSource],
  entryPoints: { kubeproxy: 'src/bootstrap/main.ts' },
  outdir: 'dist',
  // What is imported dynamically becomes a file of its own and is read only when it is needed.
  splitting: true,
});
