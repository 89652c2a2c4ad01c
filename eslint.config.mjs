import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import importX from 'eslint-plugin-import-x';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import tseslint from 'typescript-eslint';

/** The rooms of the house, from the inside out. A room may import itself and the rooms before it. */
const rooms = ['domain', 'application', 'adapters', 'bootstrap', 'testing'];

const inwardOnly = rooms.flatMap((room, position) =>
  rooms.slice(position + 1).map((outer) => ({
    target: `./src/${room}`,
    from: `./src/${outer}`,
    message: `${room} must not know ${outer}: dependencies point inward (ARCHITECTURE.md).`,
  })),
);

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
      'import-x/no-restricted-paths': ['error', { zones: inwardOnly }],
      'import-x/no-cycle': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': 'off', // the compiler tells of them
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: { 'max-lines': ['error', { max: 450 }] },
  },
  {
    files: ['src/domain/**/*.ts'],
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
    files: ['src/application/**/*.ts'],
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
