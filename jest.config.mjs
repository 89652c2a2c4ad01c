/**
 * - hermetic: needs neither root nor a kernel (`npm run test:unit`).
 * - package: neither, too, but builds, packs and installs the whole package.
 * - kernel: needs the machine's kernel, each file in network namespaces of its own; the guides are among it.
 * - timed: as kernel, but runs alone, since it measures how long something is busy or what a client loses in milliseconds.
 * - contained: brings a kernel, a simulated one among them, or a root file system of its own.
 */
const timed = `/test/kernel/(${[
  'affinity',
  'conntrack-full-table',
  'crowded-server',
  'large-transaction',
  'mode-change',
  'restart',
  'rollback',
  'rolling',
].join('|')})\\.test\\.ts$`;

const worlds = '/test/simulation/(worlds|simulation|found/found)\\.test\\.ts$';

const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testEnvironment: 'node',
};

export default {
  projects: [
    {
      ...shared,
      displayName: 'hermetic',
      moduleNameMapper: {
        '^\\./gen/index\\.js$': '<rootDir>/test/support/generated-client.mjs',
        ...shared.moduleNameMapper,
      },
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['<rootDir>/test/(kernel|conformance|deploy|package|guides)/', worlds],
    },
    {
      ...shared,
      displayName: 'package',
      testMatch: ['<rootDir>/test/package/**/*.test.ts'],
    },
    {
      ...shared,
      displayName: 'kernel',
      testMatch: ['kernel', 'conformance', 'guides'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      testPathIgnorePatterns: ['<rootDir>/test/kernel/uml/', timed],
    },
    {
      ...shared,
      displayName: 'timed',
      setupFilesAfterEnv: ['<rootDir>/test/support/repeat-once.ts'],
      testRegex: timed,
    },
    {
      ...shared,
      displayName: 'contained',
      testRegex: ['/test/(kernel/uml|deploy)/.*\\.test\\.ts$', worlds],
    },
  ],
  globalSetup: '<rootDir>/test/support/temporary-files.mjs',
  globalTeardown: '<rootDir>/test/support/temporary-files-removal.mjs',
  testTimeout: 120_000,
  // A worker keeps memory of every file, and its files soon cost twice what they cost alone.
  workerIdleMemoryLimit: '800MB',
  testSequencer: '<rootDir>/test/support/long-first.mjs',
};
