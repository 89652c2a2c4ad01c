import { readFileSync } from 'node:fs';
import { chartArgumentsSchema, chartConfigurationSchema } from '../../scripts/docs/chart-schema.js';

it('is in the schema of the chart, as npm run docs writes it', () => {
  const file = new URL('../../deploy/chart/values.schema.json', import.meta.url);
  const { properties } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly properties: Readonly<Record<string, unknown>>;
  };
  expect(properties.config).toEqual(chartConfigurationSchema());
  expect(properties.extraArgs).toEqual(chartArgumentsSchema());
});
