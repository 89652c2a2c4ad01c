import { readFileSync } from 'node:fs';
import { ginkgoTests } from '../evidence/ginkgo.js';
import { checkResult, supportMatrix } from '../evidence/results.js';

it('the support matrix in docs/evidence shows the stored results', async () => {
  const page = readFileSync('docs/evidence/README.md', 'utf8');
  const [, matrix] = page.split(/^<!-- matrix(?: end)? -->\n/m);
  expect(matrix).toBe(await supportMatrix());
  expect(matrix).toContain('](results/');
});

it('a report of Ginkgo counts the specs that ran', () => {
  const spec = { ContainerHierarchyTexts: ['[sig-network] Services'], RunTime: 2_500_000_000 };
  const tests = ginkgoTests([
    {
      SpecReports: [
        { ContainerHierarchyTexts: null, LeafNodeText: '', State: 'passed', RunTime: 1 },
        { ...spec, LeafNodeText: 'should serve', State: 'passed' },
        { ...spec, LeafNodeText: 'should be skipped', State: 'skipped' },
        {
          ...spec,
          LeafNodeText: 'should stop',
          State: 'timedout',
          Failure: { Message: 'A timeout occurred' },
        },
      ],
    },
  ]);
  expect(tests).toEqual([
    { name: '[sig-network] Services should serve', milliseconds: 2500 },
    { name: '[sig-network] Services should stop', milliseconds: 2500, error: 'timedout: A timeout occurred' },
  ]);
  expect(checkResult(tests)).toMatchObject({ passed: 1, failed: 1 });
});
