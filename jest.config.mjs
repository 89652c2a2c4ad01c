/**
 * - hermetic: needs neither root nor a kernel (`npm run test:unit`).
 * - package: neither, too, but builds, packs and installs the whole package.
 * - kernel: needs the machine's kernel, each file in network namespaces of its own; the guides are among it.
 * - timed: as kernel, but alone or beside what waits for an idle processor (scripts/test.sh), since it measures how long something is
 *   busy or what a client loses in milliseconds.
 * - contained: brings a kernel, a simulated one among them, or a root file system of its own.
 * - worlds: simulates hundreds of worlds, on all processors.
 *
 * Hermetic tests run in bare Node: most files of theirs take less time than a virtual environment of jest's for each.
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

const worlds = '/test/simulation/worlds\\.test\\.ts$';
const simulated = '/test/(simulation/(simulation|found/found)|adapters/simulated-programs/.*)\\.test\\.ts$';

/** How tests run in jest's virtual environments. */
export const virtual = {
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
};

export default {
  projects: [
    {
      displayName: 'hermetic',
      runner: '<rootDir>/test/support/hermetic-runner.mjs',
      setupFiles: ['<rootDir>/test/support/typescript.mjs'],
      setupFilesAfterEnv: ['<rootDir>/test/support/time-limit.ts'],
      transform: {},
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '<rootDir>/test/(kernel|conformance|deploy|package|guides)/',
        worlds,
        simulated,
      ],
    },
    {
      ...virtual,
      displayName: 'package',
      testMatch: ['<rootDir>/test/package/**/*.test.ts'],
    },
    {
      ...virtual,
      displayName: 'kernel',
      testMatch: ['kernel', 'conformance', 'guides'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      testPathIgnorePatterns: ['<rootDir>/test/kernel/uml/', timed],
    },
    {
      ...virtual,
      displayName: 'timed',
      setupFilesAfterEnv: ['<rootDir>/test/support/repeat-once.ts'],
      testRegex: timed,
    },
    { ...virtual, displayName: 'worlds', testRegex: worlds },
    {
      ...virtual,
      displayName: 'contained',
      testRegex: ['/test/(kernel/uml|deploy)/.*\\.test\\.ts$', simulated],
    },
  ],
  globalSetup: '<rootDir>/test/support/temporary-files.mjs',
  globalTeardown: '<rootDir>/test/support/temporary-files-removal.mjs',
  reporters: ['default', '<rootDir>/test/support/unfinished-files.mjs'],
  testTimeout: 120_000,
  // A worker keeps memory of every file, and its files soon cost twice what they cost alone.
  workerIdleMemoryLimit: '800MB',
  testSequencer: '<rootDir>/test/support/long-first.mjs',
};
