import { fileURLToPath } from 'node:url';

/**
 * What packages import for what this program does not do: auth providers, which it rejects, client-node's own way to send requests, spans and
 * pushing of metrics. It was more than half of what a start at an API server read, and cost it 50 ms and 10 MB.
 */
const UNUSED = [
  {
    importer: /\/@kubernetes\/client-node\/dist\/[^/]+$/,
    modules: ['openid-client', 'jsonpath-plus', 'undici', 'socks', './gen/index.js', './middleware.js'],
  },
  {
    importer: /\/@kubernetes\/client-node\/dist\/gen\/http\/http\.js$/,
    modules: ['./isomorphic-fetch.js', '../rxjsStub.js'],
  },
  { importer: /\/prom-client\//, modules: ['@opentelemetry/api', './lib/pushgateway', './lib/cluster'] },
];

/** In place of client-node's serializer, which loads a class for each kind of object: 27 ms and 11 MB. */
const SERIALIZER = fileURLToPath(new URL('client-node-serializer.mjs', import.meta.url));

/** Leaves out what the program never calls. */
export const withoutUnused = {
  name: 'without unused modules',
  setup(build) {
    build.onResolve({ filter: /^/ }, ({ path, importer }) =>
      UNUSED.some((unused) => unused.modules.includes(path) && unused.importer.test(importer))
        ? { path, namespace: 'unused' }
        : undefined,
    );
    build.onResolve({ filter: /\/ObjectSerializer\.js$/ }, () => ({ path: SERIALIZER }));
    build.onLoad({ filter: /^/, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** An ES import of node:http reads all its exports, WebSocket among them, which loads undici: 3.5 MB and 15 ms. A require does not. */
const requiredHttp = {
  name: 'node:http by require',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call'
        ? { path: 'node:http', external: true }
        : { path: 'http', namespace: 'required' },
    );
    build.onLoad({ filter: /^/, namespace: 'required' }, () => ({
      contents: "module.exports = require('node:http');",
    }));
  },
};

/** How this project bundles a program for Node, with esbuild. */
export const bundleOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  // Names stay, for stack traces. Less to read and to keep in memory: see scripts/build.mjs.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  legalComments: 'none',
  // koffi brings a shared library beside its code; it stays a package.
  external: ['koffi'],
  plugins: [withoutUnused, requiredHttp],
  banner: {
    // CommonJS packages inside the bundle call require for Node's own modules.
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
};

/** How the page for browsers is bundled (src/diagnostics/adapters/page/browser). */
export const pageOptions = {
  bundle: true,
  entryPoints: [
    { in: 'src/diagnostics/adapters/page/browser/main.tsx', out: 'page' },
    { in: 'src/diagnostics/adapters/page/browser/page.css', out: 'page' },
    { in: 'src/diagnostics/adapters/page/browser/index.html', out: 'index' },
  ],
  loader: { '.html': 'copy' },
  format: 'esm',
  platform: 'browser',
  target: ['es2023', 'chrome123', 'firefox128', 'safari17.5'],
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};
