/** `npm run evidence`: stores the report of Kubernetes' end-to-end tests for the support matrix. */

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ginkgoTests, type GinkgoSuite } from './ginkgo.js';
import { checkResult, storeResults } from './results.js';

const USAGE =
  'usage: npm run evidence -- REPORT.json --kubernetes VERSION --kernel VERSION --architecture NAME --mode MODE\n' +
  'REPORT.json: what Ginkgo writes with --json-report\n';

const option = { type: 'string' } as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kubernetes: option, kernel: option, architecture: option, mode: option },
});
const [report, ...more] = positionals;
const { kubernetes, kernel, architecture, mode } = values;
if (!report || more.length > 0 || !kubernetes || !kernel || !architecture || !mode) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const tests = ginkgoTests(JSON.parse(await readFile(report, 'utf8')) as readonly GinkgoSuite[]);
  if (tests.length === 0) throw new Error(`${report}: no test ran`);
  await storeResults({ kubernetes, kernel, architecture, mode }, { endToEnd: checkResult(tests) });
}
