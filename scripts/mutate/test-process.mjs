/**
 * A process that runs hermetic tests of the planted copy in bare Node, as `npm test` does, until the first one fails. Source files are
 * loaded once: each set of active faults needs a process of its own.
 */
import fc from 'fast-check';
import { addEventHandler } from 'jest-circus';
import { clearTimeout, setTimeout } from 'node:timers';

const root = process.cwd();
const [active] = process.argv.slice(2);
const awake = new Set(active.split(',').filter(Boolean).map(Number));

/** The file that is running: the numbers of its tests that shall run, their time limits, and what they have reached. */
let file;
/** What is running of it: `load`, a hook, or a test by its number. */
let place;

globalThis.__fault = (number) => {
  file?.reached.add(`${number} ${place}`);
  return awake.has(number);
};
// A property that fails need not be told by the simplest example.
fc.configureGlobal({ endOnFailure: true });

addEventHandler((event, { currentDescribeBlock: { children, hooks } }) => {
  if (event.name === 'add_test') wrap(children.at(-1), file.milliseconds.push(0) - 1);
  if (event.name === 'add_hook') wrap(hooks.at(-1), 'hook');
});

function wrap(added, step) {
  const { fn } = added;
  if (!fn) return;
  added.fn = async () => {
    if (step !== 'hook' && file.only && !file.only.includes(step)) return;
    place = step;
    const started = performance.now();
    try {
      await within(file.limits?.[step], fn);
    } catch (error) {
      file.failed = true;
      // Whether the test fails is known now; what follows may hang.
      if (awake.size > 0) process.send({ failed: file.path });
      throw error;
    } finally {
      if (step !== 'hook') file.milliseconds[step] = performance.now() - started;
      place = 'hook';
    }
  };
}

async function within(limit, step) {
  if (limit === undefined) return step();
  let timer;
  const tooLong = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${limit} ms`)), limit);
  });
  try {
    await Promise.race([step(), tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

const config = {
  rootDir: root,
  setupFiles: [`${root}/test/support/typescript.mjs`],
  setupFilesAfterEnv: [`${root}/test/support/time-limit.ts`],
  snapshotSerializers: [],
  transform: [],
  slowTestThreshold: Infinity,
};
const { default: run, setWorkerData } = await import(
  new URL('./worker-runner.js', import.meta.resolve('jest-light-runner'))
);
setWorkerData({
  globalConfig: { testNamePattern: null, updateSnapshot: 'none', expand: false },
  projectConfig: config,
  runtime: 'main_thread',
});

process.on('message', async (test) => {
  file = { ...test, reached: new Set(), milliseconds: [] };
  place = 'load';
  let passed = false;
  try {
    const { numFailingTests, numPassingTests } = await run(`${root}/${test.path}`);
    passed = numFailingTests === 0 && numPassingTests > 0 && !file.failed;
  } catch (error) {
    if (awake.size === 0) console.error(`${test.path}: ${error.message}`);
  }
  const { reached, milliseconds } = file;
  process.send({ passed, reached: [...reached], milliseconds, path: test.path });
});
process.send({ started: true });
