/** Unit and hermetic tests run in parallel; tests that need a kernel run in the project "kernel", one at a time. */
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
      testMatch: ['kernel', 'conformance', 'deploy'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
    },
  ],
  testTimeout: 60000,
};
