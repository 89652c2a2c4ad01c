/**
 * Sums the counts in jest's JSON results: `node scripts/test-summary.mjs FOLDER` prints which test files took longest, then
 * `N passed, N failed`, and exits with 1 when something failed, when no test ran, or when there are no results.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const SHOWN = 20;

const folder = process.argv[2] ?? '.';
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
const results = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const sum = (count) => results.reduce((total, result) => total + count(result), 0);

const passed = sum((result) => result.numPassedTests);
// A test file that could not even be loaded has no tests to count: it counts as one.
const failed = sum((result) => result.numFailedTests + result.numRuntimeErrorTestSuites);

const seconds = ({ startTime, endTime }) => (endTime - startTime) / 1000;
const slowest = results.flatMap(({ testResults }) => testResults).sort((a, b) => seconds(b) - seconds(a));
for (const file of slowest.slice(0, SHOWN)) {
  const time = seconds(file).toFixed(1).padStart(6);
  console.log(`${time} s  ${relative(process.cwd(), file.name)}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
