/**
 * What is measured inside one process, without files and start-up: `node in-process.js SERVICES ENDPOINTS` prints
 * InProcessResult as one line of JSON. Runs in the namespace of the BenchHost.
 */
import type { InProcessResult } from './report.js';

const result: InProcessResult = {};
console.log(JSON.stringify(result));
