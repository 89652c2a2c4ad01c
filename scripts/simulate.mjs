/** `npm run simulate`: docs/internals/simulation.md. */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { faultsNamed } from './planted/faults.mjs';
import { bundleWith, searchWorlds } from './planted/simulation.mjs';
import { bundleSimulation } from './simulation-bundle.mjs';
import { idleChecks, nodeOfWorkers, runWorker, totalOf } from './simulation-workers.mjs';

const HELP = `Simulates a cluster, a node and its kernel around the whole program, and checks what it promises.

  npm run simulate -- --seed N              one world
  npm run simulate -- --seeds N [--from N]  N worlds, from this seed on (100, from 1)
  npm run simulate -- --minutes N [--from N]
  npm run simulate -- --schedule FILE       what a failure printed
  npm run simulate -- --planted [--name X]  plants faults in the program, one at a time, in worlds from a random seed or --from N
  npm run simulate -- --name X --seed N     one world, or a schedule, with a fault planted

  --modes A,B   only worlds that begin in these modes
  --log         what the program logs in each world
  --digest      a hash of each world: the same seed gives the same
  --unshrunk    print failures as they were found
  --stop        end each process at its first failure

Worlds run on Node 26 where scripts/setup.sh has installed it, as it takes less time; they are the same on Node 20.
`;

const OPTIONS = {
  seed: { type: 'string' },
  seeds: { type: 'string' },
  from: { type: 'string' },
  minutes: { type: 'string' },
  modes: { type: 'string' },
  schedule: { type: 'string', multiple: true },
  planted: { type: 'boolean' },
  name: { type: 'string', multiple: true },
  log: { type: 'boolean' },
  digest: { type: 'boolean' },
  unshrunk: { type: 'boolean' },
  stop: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};
const SWITCHES = ['log', 'digest', 'unshrunk', 'stop'];

/** The options of each process. */
function workersFor({ seed, seeds = '100', from = '1', minutes, modes, schedule, ...rest }) {
  const common = SWITCHES.filter((name) => rest[name]).map((name) => `--${name}`);
  if (schedule) return [[...common, ...schedule.map((file) => `--schedule=${file}`)]];
  if (seed !== undefined) return [[...common, `--seed=${seed}`]];
  if (modes !== undefined) common.push(`--modes=${modes}`);
  const bounds =
    minutes === undefined
      ? [`--seeds=${seeds}`]
      : ['--seeds=Infinity', `--until=${Date.now() + Number(minutes) * 60_000}`];
  const workers = availableParallelism();
  return Array.from({ length: workers }, (_, worker) => [
    ...common,
    ...bounds,
    `--from=${from}`,
    `--worker=${worker}`,
    `--workers=${workers}`,
  ]);
}

/** Bundles the program, with faults if some are to be planted in each world. */
async function bundled({ planted, name }) {
  if (name && !planted) return bundleWith(name);
  const program = resolve('build/simulation/simulate.mjs');
  await bundleSimulation(program);
  return program;
}

/** Looks for planted faults. @returns the exit code: 1 if some fault was not found */
async function findPlanted(program, { name, from = String(randomInt(2 ** 31)) }) {
  const faults = await faultsNamed(name);
  let count = 0;
  console.log(`from seed ${from}`);
  await searchWorlds(program, faults, Number(from), (fault, found) => {
    if (found !== undefined) count++;
    console.log(`${fault.name}: ${found === undefined ? 'NOT FOUND' : `found ${found}`}`);
  });
  console.log(`${count} of ${faults.length} planted faults are found`);
  return count === faults.length ? 0 : 1;
}

async function main(options) {
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const program = await bundled(options);
  if (options.planted) return findPlanted(program, options);
  const began = Date.now();
  const tallies = await Promise.all(workersFor(options).map((args) => runWorker(program, args, console.log)));
  const { worlds, commits, failures } = totalOf(tallies);
  const seconds = (Date.now() - began) / 1000;
  console.log(
    `${worlds} worlds, ${commits} commits, ${failures} failures, ${seconds.toFixed(1)} s, ${(worlds / seconds).toFixed(1)} worlds a second on Node ${nodeOfWorkers}`,
  );
  const isOfAllKinds = options.modes === undefined && options.schedule === undefined;
  const idle = isOfAllKinds ? idleChecks(tallies) : [];
  for (const line of idle) console.log(line);
  return failures > 0 || idle.length > 0 || tallies.some(({ worked }) => !worked) ? 1 : 0;
}

process.exitCode = await main(parseArgs({ options: OPTIONS }).values);
