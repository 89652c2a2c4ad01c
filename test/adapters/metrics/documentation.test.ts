import { readFile } from 'node:fs/promises';
import { COMPONENT_METRICS } from '../../../src/adapters/metrics/component-metric-table.js';
import { OWN_METRICS } from '../../../src/adapters/metrics/own-metric-table.js';
import { RUNTIME_METRICS } from '../../../src/adapters/metrics/runtime-metrics.js';
import { SLI_METRICS } from '../../../src/adapters/metrics/health-slis.js';

it('docs/observing.md names every metric that is not kube-proxy’s own', async () => {
  const text = await readFile('docs/observing.md', 'utf8');
  const names = [OWN_METRICS, COMPONENT_METRICS, RUNTIME_METRICS, SLI_METRICS]
    .flatMap((table) => Object.values(table))
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('process_'));
  expect(names.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
});
