/** Plants faults in the program, one at a time, and reports which methods find them: docs/track-record.md. */
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { faultsNamed, FOLDER } from './planted/faults.mjs';
import { searchStories } from './planted/fuzz.mjs';
import { searchTests } from './planted/hermetic.mjs';
import { searchKernelTests } from './planted/kernel.mjs';
import { searchWorlds } from './planted/simulation.mjs';
import { bundleSimulation } from './simulation-bundle.mjs';

const HELP = `Plants the faults of test/planted-faults in the program, one at a time, and reports which methods find them.

  node scripts/planted-faults.mjs --method METHOD [--name X]... [--seed N]
  node scripts/planted-faults.mjs               the scores of all methods so far

  --method   hermetic, simulation, fuzz or kernel
  --name X   this fault only
  --missed   only faults that no method has found yet
  --seed N   the first world or story (default: random)
  --tests P  kernel tests of these paths
`;

const RESULTS = resolve(FOLDER, 'results.json');

const { values } = parseArgs({
  options: {
    method: { type: 'string' },
    name: { type: 'string', multiple: true },
    missed: { type: 'boolean' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    tests: { type: 'string', default: 'test/conformance' },
    help: { type: 'boolean', short: 'h' },
  },
});
const seed = Number(values.seed);

const METHODS = {
  hermetic: searchTests,
  async simulation(faults, ended) {
    const program = resolve('build/simulation/simulate.mjs');
    await bundleSimulation(program);
    await searchWorlds(program, faults, seed, ended);
  },
  fuzz: (faults, ended) => searchStories(faults, seed, ended),
  kernel: (faults, ended) => searchKernelTests(faults, values.tests, ended),
};

/** By method: of each fault, how it was found; null if it was not. */
function results() {
  try {
    return JSON.parse(readFileSync(RESULTS, 'utf8'));
  } catch {
    return {};
  }
}

function isFound({ name }) {
  return Object.values(results()).some((found) => found[name]);
}

function record(method, { name }, found) {
  const all = results();
  all[method] = { ...all[method], [name]: found ?? null };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(RESULTS, JSON.stringify(all, undefined, 1));
  console.log(`${name}: ${found === undefined ? 'NOT FOUND' : `found ${found}`}`);
}

function printScores(faults) {
  for (const [method, found] of Object.entries(results())) {
    const tried = faults.filter(({ name }) => name in found);
    const count = tried.filter(({ name }) => found[name]).length;
    console.log(`${method}: ${count} of ${tried.length} found`);
  }
  const missed = faults.filter((fault) => !isFound(fault));
  console.log(`${missed.length} of ${faults.length} not found:`);
  for (const { name, file } of missed) console.log(`  ${name} (${file})`);
}

if (values.help) process.stdout.write(HELP);
else {
  const named = await faultsNamed(values.name);
  const faults = values.missed ? named.filter((fault) => !isFound(fault)) : named;
  if (values.method !== undefined) {
    if (!Object.hasOwn(METHODS, values.method)) throw new Error(`unknown method ${values.method}`);
    console.log(`${faults.length} faults, seed ${seed}`);
    await METHODS[values.method](faults, (fault, found) => record(values.method, fault, found));
  }
  printScores(named);
  process.exit();
}
