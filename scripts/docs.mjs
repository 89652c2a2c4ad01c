import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { load } from './docs/load.mjs';

/** Writes docs/configuration/README.md, and what the chart's schema says of it, from the schema of the configuration. */
const { configurationReference } = await load('configuration-reference');
const { chartConfigurationSchema, chartArgumentsSchema } = await load('chart-schema');

await writeFile('docs/configuration/README.md', configurationReference());

const chartSchema = 'deploy/chart/values.schema.json';
const values = JSON.parse(await readFile(chartSchema, 'utf8'));
values.properties.config = chartConfigurationSchema();
values.properties.extraArgs = chartArgumentsSchema();
await writeFile(chartSchema, JSON.stringify(values));
execFileSync('npx', ['oxfmt', chartSchema]);
