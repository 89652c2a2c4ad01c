/**
 * Tests that need the machine's kernel are in the project "kernel", each in namespaces of its own, or "timed": those that
 * measure how long something is busy, or count what a client loses in a few milliseconds, run alone. What brings a kernel or a
 * root file system is "contained".
 */
const timed = `/test/kernel/(${[
  'affinity',
  'conntrack-full-table',
  'mode-change',
  'nftables-cli',
  'nftables-netlink',
  'restart',
  'rollback',
  'rolling',
].join('|')})\\.test\\.ts$`;

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
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['<rootDir>/test/(kernel|conformance|deploy)/'],
    },
    {
      ...shared,
      displayName: 'kernel',
      testMatch: ['kernel', 'conformance'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      testPathIgnorePatterns: ['<rootDir>/test/kernel/uml/', timed],
    },
    {
      ...shared,
      displayName: 'timed',
      testRegex: timed,
    },
    {
      ...shared,
      displayName: 'contained',
      testMatch: ['kernel/uml', 'deploy'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
    },
  ],
  testTimeout: 60000,
};
