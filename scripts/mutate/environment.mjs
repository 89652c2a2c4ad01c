/**
 * What each test file of the planted copy runs in. It wakes the faults whose numbers are in AWAKE, or, if there are none, writes the
 * number of each fault that the tests reach into the file REACHED. After the first test that fails, the others are skipped.
 */
import { TestEnvironment } from 'jest-environment-node';
import { appendFileSync } from 'node:fs';

export default class PlantedEnvironment extends TestEnvironment {
  #hasFailed = false;

  async setup() {
    await super.setup();
    const { AWAKE, REACHED } = process.env;
    const awake = new Set(AWAKE.split(',').filter(Boolean).map(Number));
    const reached = new Set();
    this.global.__fault = (number) => {
      if (awake.size === 0 && !reached.has(number)) {
        reached.add(number);
        appendFileSync(REACHED, `${number}\n`);
      }
      return awake.has(number);
    };
  }

  handleTestEvent({ name, test }) {
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
    if (name === 'test_done' && test.errors.length > 0) this.#hasFailed = true;
  }
}
