/** Plants faults in the program, one at a time, and reports which methods find them: docs/internals/track-record.md. */
import { createHash, randomInt } from 'node:crypto';
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
  --file RE  only faults in files whose path matches
  --missed   only faults that no method has found yet
  --untried  only faults that this method has not tried yet
  --sample N so many of them, chosen by the seed
  --seed N   the first world or story (default: random)
  --near     only hermetic tests beside the faulty file
  --worlds N of the simulation, for each fault (200)
  --tests P  kernel tests of these paths
`;

const RESULTS = resolve(FOLDER, 'results.json');

const { values } = parseArgs({
  options: {
    method: { type: 'string' },
    name: { type: 'string', multiple: true },
    file: { type: 'string', default: '' },
    missed: { type: 'boolean' },
    untried: { type: 'boolean' },
    worlds: { type: 'string' },
    near: { type: 'boolean' },
    sample: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    tests: { type: 'string', default: 'test/conformance' },
    help: { type: 'boolean', short: 'h' },
  },
});
const seed = Number(values.seed);

const METHODS = {
  hermetic: (faults, ended) => searchTests(faults, values.near === true, ended),
  async simulation(faults, ended) {
    const program = resolve('build/simulation/simulate.mjs');
    await bundleSimulation(program);
    await searchWorlds(program, faults, seed, ended, values.worlds && Number(values.worlds));
  },
  fuzz: (faults, ended) => searchStories(faults, seed, ended),
  kernel: (faults, ended) => searchKernelTests(faults, values.tests, ended),
};

/** So many faults, the same for the same seed. */
function sampleOf(faults, count) {
  const rank = ({ name }) => createHash('sha256').update(`${seed} ${name}`).digest('hex');
  return faults.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)).slice(0, count);
}

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
  const eligible = named.filter(
    (fault) =>
      new RegExp(values.file).test(fault.file) &&
      !(values.missed && isFound(fault)) &&
      !(values.untried && fault.name in (results()[values.method] ?? {})),
  );
  const faults = values.sample === undefined ? eligible : sampleOf(eligible, Number(values.sample));
  if (values.method !== undefined) {
    if (!Object.hasOwn(METHODS, values.method)) throw new Error(`unknown method ${values.method}`);
    console.log(`${faults.length} faults, seed ${seed}`);
    await METHODS[values.method](faults, (fault, found) => record(values.method, fault, found));
  }
  printScores(named);
  process.exit();
}
