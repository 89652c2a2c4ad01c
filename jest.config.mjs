/**
 * Unit and hermetic tests run in parallel; tests that need the machine's kernel run in the project "kernel",
 * each in namespaces of its own; those that bring a kernel or a root file system of their own are "contained".
 */
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
      testPathIgnorePatterns: ['<rootDir>/test/kernel/uml/'],
    },
    {
      ...shared,
      displayName: 'contained',
      testMatch: ['kernel/uml', 'deploy'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
    },
  ],
  testTimeout: 60000,
};
