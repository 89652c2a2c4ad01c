/**
 * Sums the counts in jest's JSON results: `node scripts/test-summary.mjs FOLDER` prints `N passed, N failed` and
 * exits with 1 when something failed, when no test ran, or when there are no results.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
const results = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const sum = (count) => results.reduce((total, result) => total + count(result), 0);

const passed = sum((result) => result.numPassedTests);
// A test file that could not even be loaded has no tests to count: it counts as one.
const failed = sum((result) => result.numFailedTests + result.numRuntimeErrorTestSuites);

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
