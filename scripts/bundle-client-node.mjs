import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.mjs';

/* The files of the library that use client-node contain the parts that they need: as a whole it costs a start half a second and 75 MB, and
 * does not load on Node 20, because of undici 8.
 */
const files = [
  'adapters/events/event-requests',
  'adapters/kubernetes/client/request-configuration',
  'adapters/kubernetes/connection/client-node',
];

await build({
  ...bundleOptions,
  entryPoints: Object.fromEntries(files.map((file) => [file, `src/${file}.ts`])),
  outdir: 'lib',
  sourcemap: false,
});
