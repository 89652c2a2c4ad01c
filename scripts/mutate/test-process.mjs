/** A process that runs one test file of the planted copy after another: starting jest costs more than most of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runCLI } from 'jest';
import { virtual } from '../../jest.config.mjs';

const root = process.cwd();
const config = JSON.stringify({
  ...virtual,
  rootDir: root,
  roots: [`${root}/test`],
  testEnvironment: fileURLToPath(new URL('./environment.mjs', import.meta.url)),
  setupFilesAfterEnv: [fileURLToPath(new URL('./setup.mjs', import.meta.url))],
  cacheDirectory: `${root}/jest-cache`,
  testTimeout: 60_000,
});

process.on('message', async ({ test, awake }) => {
  process.env.REACHED = `${root}/reached`;
  process.env.AWAKE = awake.join();
  writeFileSync(process.env.REACHED, '');
  const before = process.cpuUsage();
  const { results } = await runCLI(
    {
      _: [test],
      $0: '',
      config,
      runTestsByPath: true,
      runInBand: true,
      silent: true,
      reporters: [],
      watchman: false,
    },
    [root],
  );
  const { user, system } = process.cpuUsage(before);
  process.send({
    passed: results.success && results.numPassedTests > 0,
    milliseconds: (user + system) / 1000,
    reached: readFileSync(process.env.REACHED, 'utf8').split('\n').filter(Boolean).map(Number),
    bytes: process.memoryUsage.rss(),
  });
});
