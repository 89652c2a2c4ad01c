import { readFile } from 'node:fs/promises';
import {
  COMPONENT_METRICS,
  RUNTIME_METRICS,
  SLI_METRICS,
} from '../../../src/adapters/metrics/component-metrics.js';
import { OWN_METRICS } from '../../../src/adapters/metrics/metric-tables.js';
it('docs/observing.md names every metric that is not kube-proxy’s own', async () => {
  const text = await readFile('docs/observing.md', 'utf8');
  const names = [OWN_METRICS, COMPONENT_METRICS, RUNTIME_METRICS, SLI_METRICS]
    .flatMap((table) => Object.values(table))
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('process_'));
  expect(names.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
});
