/**
 * Plants faults in the domain and application layers of both parts, and runs the hermetic tests that reach them. Prints the faults that no test
 * finds, and the score: `node scripts/mutate.mjs --count 300 --seed 1 --file nftables`. The same seed plants the same faults in the
 * same code; `--file` keeps to files with this in their path, `--tests domain,application` to the tests of these layers, which takes a
 * third of the time.
 *
 * All faults are planted together, inactive, in a copy of the sources. Each test file runs once without a fault, which shows the faults
 * it reaches, and again with these active until they are found.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { description, faultsIn, plant } from './mutate/faults.mjs';
import { PlantedTests } from './mutate/planted-tests.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
    tests: { type: 'string', default: 'domain,application,testing,adapters,bootstrap,diagnostics' },
  },
});
/** The processor time that a test file may take, in terms of what it takes without a fault. Beyond that, a fault has made it endless. */
const SLOWEST = { factor: 10, milliseconds: 20_000 };
const WITHOUT_FAULT_MS = 600_000;

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let number = Math.imul(state ^ (state >>> 15), 1 | state);
    number = (number + Math.imul(number ^ (number >>> 7), 61 | number)) ^ number;
    return ((number ^ (number >>> 14)) >>> 0) / 2 ** 32;
  };
}

function filesIn(room, ending) {
  const names = readdirSync(room, { recursive: true }).sort();
  return names.filter((name) => name.endsWith(ending)).map((name) => join(room, name));
}

function chosenFaults() {
  const parts = ['src', 'src/diagnostics'];
  const paths = parts.flatMap((part) => [
    ...filesIn(`${part}/domain`, '.ts'),
    ...filesIn(`${part}/application`, '.ts'),
  ]);
  const faults = paths
    .filter((path) => path.includes(values.file))
    .flatMap((path) => faultsIn(path, readFileSync(path, 'utf8')));
  const random = randomNumbers(Number(values.seed));
  const count = Math.min(Number(values.count), faults.length);
  const chosen = Array.from(
    { length: count },
    () => faults.splice(Math.floor(random() * faults.length), 1)[0],
  );
  return chosen.map((fault, number) => ({ ...fault, number }));
}

function textsWith(faults) {
  const byPath = new Map(faults.map(({ path }) => [path, faults.filter((fault) => fault.path === path)]));
  return [...byPath].map(([path, planted]) => [path, plant(planted[0].source, planted)]);
}

/** The test files, each with the processor time it takes and which faults it reaches. */
async function triedTests(tests) {
  const tried = [];
  for (const path of values.tests.split(',').flatMap((room) => filesIn(`test/${room}`, '.test.ts'))) {
    const result = await tests.run(path, [], WITHOUT_FAULT_MS);
    if (!result?.passed) throw new Error(`${path} fails without any fault: no fault can be told from that`);
    tried.push({ path, milliseconds: result.milliseconds, reached: new Set(result.reached) });
  }
  return tried.sort((a, b) => a.milliseconds - b.milliseconds);
}

/**
 * How near a test file is to the faulty one. Near ones find most faults, and get them one by one: faults that are awake together
 * may hide each other. For far ones that would take too long; what they miss for that reason counts as missed.
 */
const DISTANCES = [
  { distance: 'mirror', atOnce: 1 },
  { distance: 'beside', atOnce: 1 },
  { distance: 'far', atOnce: Infinity },
];

function distanceOf(test, fault) {
  const mirror = fault.path.replace(/^src(.*)\.ts$/, 'test$1.test.ts');
  if (test.path === mirror) return 'mirror';
  return `${dirname(mirror)}/`.startsWith(`${dirname(test.path)}/`) ? 'beside' : 'far';
}

/** Those of the faults that a test file finds. All are active together, and halved as long as it fails. */
async function foundBy(test, faults, tests) {
  const limitMs = SLOWEST.milliseconds + SLOWEST.factor * test.milliseconds;
  const result = await tests.run(test.path, faults, limitMs);
  if (result?.passed) return [];
  if (faults.length === 1) {
    console.log(`${result ? 'found  ' : 'endless'} ${description(faults[0])} (${test.path})`);
    return faults;
  }
  const half = faults.length >> 1;
  return [
    ...(await foundBy(test, faults.slice(0, half), tests)),
    ...(await foundBy(test, faults.slice(half), tests)),
  ];
}

const faults = chosenFaults();
const tests = new PlantedTests(textsWith(faults));
process.on('exit', () => tests.remove());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const tried = await triedTests(tests);
const isReached = (fault) => tried.some(({ reached }) => reached.has(fault.number));
console.log(`${tried.length} test files reach ${faults.filter(isReached).length} of ${faults.length} faults`);
const missed = new Set(faults);
for (const { distance, atOnce } of DISTANCES)
  for (const test of tried) {
    const reached = [...missed].filter(
      (fault) => test.reached.has(fault.number) && distanceOf(test, fault) === distance,
    );
    for (let at = 0; at < reached.length; at += atOnce)
      for (const fault of await foundBy(test, reached.slice(at, at + atOnce), tests)) missed.delete(fault);
  }

for (const fault of missed)
  console.log(`${isReached(fault) ? 'SURVIVED ' : 'UNREACHED'} ${description(fault)}`);
const found = faults.length - missed.size;
console.log(`${found} of ${faults.length} faults found (${Math.floor((100 * found) / faults.length)} %)`);
process.exit(missed.size === 0 ? 0 : 1);
