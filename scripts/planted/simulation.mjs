import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { bundleSimulation } from '../simulation-bundle.mjs';
import { runWorker } from '../simulation-workers.mjs';
import { faultsNamed, FOLDER } from './faults.mjs';

/** Within how many worlds a fault is to be found, unless another number is given. */
const WORLDS = 200;

/** Bundles the simulation with these faults. @returns the bundle */
export async function bundleWith(names) {
  const planted = resolve(FOLDER, `${names.join('+')}.mjs`);
  await bundleSimulation(planted, await faultsNamed(names));
  return planted;
}

/**
 * Plants each fault and looks for a world that shows it. A world that fails without the fault, too,
 * proves nothing.
 * @param program the bundle of the unmodified program
 * @param seed of the first world
 * @param ended called with each fault and how it was found, undefined if it was not
 * @param worlds how many are tried
 */
export async function searchWorlds(program, faults, seed, ended, worlds = WORLDS) {
  const waiting = [...faults];
  const work = async () => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift())
      ended(fault, await worldThatShows(fault, program, seed, worlds));
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), faults.length) }, work));
}

async function worldThatShows(fault, program, first, most) {
  const planted = resolve(FOLDER, `${fault.name}.mjs`);
  await bundleSimulation(planted, [fault]);
  const modes = fault.modes ? [`--modes=${fault.modes.join(',')}`] : [];
  let tried = 0;
  for (let from = first; tried < most;) {
    const lines = [];
    const args = [`--from=${from}`, `--seeds=${most - tried}`, '--stop', '--unshrunk', ...modes];
    const { worlds, failures, worked } = await runWorker(planted, args, (line) => lines.push(line));
    if (!worked) throw new Error(`the simulation with the fault ${fault.name} failed`);
    tried += worlds;
    if (failures === 0) break;
    const seed = lines.find((line) => line.startsWith('seed '))?.slice('seed '.length);
    const unmodified = await runWorker(program, [`--seed=${seed}`, '--unshrunk'], () => {});
    if (unmodified.failures === 0) return `in world ${tried}, seed ${seed}: ${lines[0]}`;
    from = Number(seed) + 1;
  }
  return undefined;
}
