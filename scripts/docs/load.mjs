import { build } from 'esbuild';
import { Buffer } from 'node:buffer';
import { bundleOptions } from '../bundle-options.mjs';

/** What a file of this folder exports, with the source of the program in it. */
export async function load(name) {
  const { outputFiles } = await build({
    ...bundleOptions,
    entryPoints: [`scripts/docs/${name}.ts`],
    write: false,
    sourcemap: false,
    // CommonJS packages inside call require for Node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire('file:///');",
    },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}
