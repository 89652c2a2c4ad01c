/** `npm run simulate`: docs/simulation.md. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { bundleSimulation } from './simulation-bundle.mjs';

const program = resolve('build/simulation/simulate.mjs');
await bundleSimulation(program);
const { status } = spawnSync(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exitCode = status ?? 1;
