import { build } from 'esbuild';
import { Buffer } from 'node:buffer';
import { writeFile } from 'node:fs/promises';
import { bundleOptions } from './bundle-options.mjs';

/** Writes docs/configuration.md from the schema of the configuration. */
const { outputFiles } = await build({
  ...bundleOptions,
  entryPoints: ['src/bootstrap/configuration/reference.ts'],
  write: false,
  sourcemap: false,
  banner: {},
});
const { configurationReference } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`
);
await writeFile('docs/configuration.md', configurationReference());
