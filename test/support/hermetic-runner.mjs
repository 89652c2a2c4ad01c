import { createRunner } from 'jest-light-runner';

const runtime = 'child_process';

/**
 * Runs tests in bare Node, in processes of their own.
 *
 * In jest-light-runner 0.7 all processes share one list of who waits for the run's settings: the first that asks has them sent to
 * all, one that is still starting loses them, and the run never ends. Here each answer goes to the process that asked.
 */
export default class HermeticRunner extends createRunner({ runtime }) {
  _runTest(test) {
    const { config: projectConfig } = test.context;
    const workerData = { globalConfig: this._globalConfig, projectConfig, runtime };
    const result = super._runTest(test);
    const runner = this._testRunners.get(projectConfig);
    runner.run = ({ path }) => runner.pool.run(path, { channel: settingsChannel(workerData) });
    return result;
  }
}

/** Answers the one question that a process asks before its first test. */
function settingsChannel(workerData) {
  let answer;
  return {
    onMessage: (listener) => (answer = listener),
    postMessage: (message) => {
      if (message === 'jest-light-runner-get-worker-data')
        answer({ type: 'jest-light-runner-worker-data', workerData });
    },
  };
}
