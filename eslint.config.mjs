import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import importX from 'eslint-plugin-import-x';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import tseslint from 'typescript-eslint';

/** The layers of both parts, from the inside out. A layer may import itself and the layers before it. */
const LAYERS = ['domain', 'application', 'adapters', 'bootstrap'];
const PROXY = './src';
const DIAGNOSTICS = './src/diagnostics';

/** In each part, and from the diagnostics to the proxy. */
const inwardOnly = [
  [PROXY, PROXY],
  [DIAGNOSTICS, DIAGNOSTICS],
  [DIAGNOSTICS, PROXY],
].flatMap(([part, other]) =>
  LAYERS.flatMap((layer, position) =>
    LAYERS.slice(position + 1).map((outer) => ({
      target: `${part}/${layer}`,
      from: `${other}/${outer}`,
      message: `${layer} does not import ${outer}: imports point inward (ARCHITECTURE.md).`,
    })),
  ),
);

const notForTests = LAYERS.map((layer) => ({ target: `./src/${layer}`, from: './src/testing' }));

/** The proxy works without its diagnostics. */
const withoutDiagnostics = [...LAYERS, 'testing', '{index,fakes,contract}.ts'].map((target) => ({
  target: `./src/${target}`,
  from: DIAGNOSTICS,
  message: 'The proxy does not import the diagnostics; src/bootstrap/diagnostics.ts loads them.',
}));

/** What the proxy offers its diagnostics, beside its domain (ARCHITECTURE.md, "What the diagnostics read"). */
const PUBLISHED = {
  application: [
    ...['ports', 'words.ts', 'cut-text.ts', 'retries.ts', 'error-message.ts'],
    ...['status', 'health', 'traffic/traffic-watchers.ts', 'traffic/endpoint-answers.ts'],
    'traffic/terminating-endpoints.ts',
    ...['use-cases/object-reports.ts', 'use-cases/sync.ts', 'use-cases/await-lists.ts'],
    ...['node/forwarding-obstacles.ts', 'node/node-contexts.ts'],
  ],
  adapters: [
    ...[
      'cli',
      'http/router.ts',
      'http/largest-response.ts',
      'process',
      'manifests',
      'tool-programs.ts',
      'userspace/host-network.ts',
      'conntrack/ctnetlink.ts',
    ],
    ...['kubernetes/client', 'kubernetes/connection/connection.ts'],
    ...['netlink', 'rtnetlink', 'nftables/render-text.ts', 'ipset'],
    ...['queries', 'elements', 'kernel-table', 'nf-tables', 'records', 'set-layout', 'table-listing'].map(
      (name) => `nftables/netlink/${name}.ts`,
    ),
    ...['iptables-commands', 'iptables-tool', 'owned-chains', 'tables-difference', 'variants'].map(
      (name) => `iptables/${name}.ts`,
    ),
    ...['clean-up-ipvs', 'ipvs-kernel', 'netlink-service-addresses', 'netlink-virtual-servers'].map(
      (name) => `ipvs/${name}.ts`,
    ),
  ],
  bootstrap: [
    ...['configuration', 'modes'],
    ...['parts.ts', 'reader.ts', 'life-cycle.ts', 'follow-release.ts', 'this-node.ts', 'version.ts'],
  ],
};

const publishedOnly = Object.entries(PUBLISHED).map(([layer, published]) => ({
  target: DIAGNOSTICS,
  from: `./src/${layer}`,
  except: published.map((path) => `./${path}`),
  message: 'The proxy does not offer this to its diagnostics (PUBLISHED in eslint.config.mjs).',
}));

/** What is judged by the model is not what the model is made of. */
const independentModel = {
  target: './test/model',
  from: './src',
  message: 'The model shares nothing with the program (test/model/model.ts).',
};

const zones = [...inwardOnly, ...notForTests, ...publishedOnly, independentModel];

// Rules on promises need the types: .oxlintrc.json has them, where they take a sixth of the time.
export default defineConfig(
  { ignores: ['build', 'dist', 'lib', 'docs/api', 'node_modules', 'coverage'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver()] },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones: [...zones, ...withoutDiagnostics] }],
      'import-x/no-cycle': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': 'off', // the compiler tells of them
    },
  },
  {
    files: ['src/bootstrap/diagnostics.ts'],
    rules: { 'import-x/no-restricted-paths': ['error', { zones }] },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: { 'max-lines': ['error', { max: 450 }] },
  },
  {
    files: ['src/domain/**/*.ts', 'src/diagnostics/domain/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(?!\\.|ipaddr\\.js$|fast-deep-equal$|node:crypto$)',
              message: 'The domain is pure: no I/O, no framework.',
            },
          ],
        },
      ],
      'no-restricted-globals': ['error', 'process', 'console', 'setTimeout', 'setInterval', 'fetch'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The domain has no clock.' },
      ],
    },
  },
  {
    files: ['src/application/**/*.ts', 'src/diagnostics/application/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(?!\\.|node:)',
              message: 'The application knows only ports: no framework, no library.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.mjs', 'bin/**'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'fetch',
          'setTimeout',
          'clearTimeout',
          'performance',
          'AbortController',
          'AbortSignal',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
