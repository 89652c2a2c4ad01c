/** How this project bundles a program for Node, with esbuild. */
export const bundleOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  // koffi brings a shared library beside its code; it stays a package.
  external: ['koffi'],
  banner: {
    // CommonJS packages inside the bundle call require for Node's own modules.
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
};
