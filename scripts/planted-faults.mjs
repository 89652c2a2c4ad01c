import { build } from 'esbuild';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleOptions } from './bundle-options.mjs';
import { bundleSimulation } from './simulation-bundle.mjs';
import { runWorker } from './simulation-workers.mjs';

const FOLDER = resolve('build/simulation/planted');
/** Within how many worlds a fault is to be found. */
const WORLDS = 200;

/** Loads the list of faults. */
async function plantedFaults() {
  const outfile = resolve(FOLDER, 'faults.mjs');
  await build({ ...bundleOptions, entryPoints: ['test/simulation/planted/faults.ts'], outfile });
  return (await import(pathToFileURL(outfile).href)).FAULTS;
}

/** The faults of these names; all if there are none. */
async function faultsNamed(names) {
  const all = await plantedFaults();
  const known = all.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no fault is called ${unknown}; there are ${known.join(', ')}`);
  return names ? all.filter(({ name }) => names.includes(name)) : all;
}

/** Bundles the program with these faults. @returns the bundle */
export async function bundleWith(names) {
  const planted = resolve(FOLDER, `${names.join('+')}.mjs`);
  await bundleSimulation(planted, await faultsNamed(names));
  return planted;
}

/**
 * Plants each fault and looks for a world that shows it. A world that fails without the fault, too,
 * proves nothing.
 * @param program the bundle of the unmodified program
 * @param only the names of those to plant
 * @returns the exit code: 1 if some fault was not found
 */
export async function findPlanted(program, only) {
  const waiting = [...(await faultsNamed(only))];
  const count = waiting.length;
  let found = 0;
  const work = async () => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift())
      if (await isFound(fault, program)) found++;
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), count) }, work));
  console.log(`${found} of ${count} planted faults are found`);
  return found === count ? 0 : 1;
}

async function isFound(fault, program) {
  const planted = resolve(FOLDER, `${fault.name}.mjs`);
  await bundleSimulation(planted, [fault]);
  const modes = fault.modes ? [`--modes=${fault.modes.join(',')}`] : [];
  let tried = 0;
  for (let from = 1; tried < WORLDS;) {
    const lines = [];
    const args = [`--from=${from}`, `--seeds=${WORLDS - tried}`, '--stop', '--unshrunk', ...modes];
    const { worlds, failures, worked } = await runWorker(planted, args, (line) => lines.push(line));
    if (!worked) throw new Error(`the simulation with the fault ${fault.name} failed`);
    tried += worlds;
    if (failures === 0) break;
    const seed = lines.find((line) => line.startsWith('seed '))?.slice('seed '.length);
    const asItIs = await runWorker(program, [`--seed=${seed}`, '--unshrunk'], () => {});
    if (asItIs.failures === 0) {
      console.log(`${fault.name}: found in world ${tried}, seed ${seed}: ${lines[0]}`);
      return true;
    }
    from = Number(seed) + 1;
  }
  console.log(`${fault.name}: NOT FOUND in ${tried} worlds`);
  return false;
}
