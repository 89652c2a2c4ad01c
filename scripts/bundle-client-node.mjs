import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.mjs';

/* What reads kubeconfigs becomes one file of the library, with what it needs of client-node in it: that package as a whole does not load on
 * Node 20, because of undici 8, and brings some twenty others.
 */
const file = 'adapters/kubernetes/connection/client-node';

await build({
  ...bundleOptions,
  entryPoints: { [file]: `src/${file}.ts` },
  outdir: 'lib',
  sourcemap: false,
});
