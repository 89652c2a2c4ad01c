/**
 * Runs in jest before each test file of the planted copy: wakes the faults whose numbers are in AWAKE, or, if there are none, writes
 * the number of each fault that the tests reach into the file REACHED.
 */
import { appendFileSync } from 'node:fs';

const { AWAKE, REACHED } = process.env;
const awake = new Set(AWAKE.split(',').filter(Boolean).map(Number));
const reached = new Set();

globalThis.__fault = (number) => {
  if (awake.size === 0 && !reached.has(number)) {
    reached.add(number);
    appendFileSync(REACHED, `${number}\n`);
  }
  return awake.has(number);
};
