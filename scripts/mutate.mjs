/**
 * Plants faults in the domain and application layers of both parts, and runs the hermetic tests that reach them. Prints the faults that no test
 * finds, and the score: `node scripts/mutate.mjs --count 300 --seed 1 --file nftables`. The same seed plants the same faults in the
 * same code; `--file` keeps to files with this in their path, `--parts src` to these parts, `--tests domain,application` to the tests of
 * these layers, which takes a third of the time.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { description, faultsIn, plant } from './mutate/faults.mjs';
import { filesIn, HERMETIC_TESTS, searchHermetic } from './mutate/hermetic-search.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
    parts: { type: 'string', default: 'src,src/diagnostics' },
    tests: { type: 'string', default: HERMETIC_TESTS },
  },
});
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

function chosenFaults() {
  const paths = values.parts
    .split(',')
    .flatMap((part) => [...filesIn(`${part}/domain`, '.ts'), ...filesIn(`${part}/application`, '.ts')]);
  const faults = paths
    .filter((path) => path.includes(values.file))
    .flatMap((path) => faultsIn(path, readFileSync(path, 'utf8')));
  const random = randomNumbers(Number(values.seed));
  const count = Math.min(Number(values.count), faults.length);
  const chosen = Array.from(
    { length: count },
    () => faults.splice(Math.floor(random() * faults.length), 1)[0],
  );
  return chosen.map((fault, number) => ({ ...fault, number, description: description(fault) }));
}

function textsWith(faults) {
  const byPath = new Map(faults.map(({ path }) => [path, faults.filter((fault) => fault.path === path)]));
  return [...byPath].map(([path, planted]) => [path, plant(planted[0].source, planted)]);
}

const faults = chosenFaults();
let found = 0;
await searchHermetic(faults, textsWith(faults), values.tests, {
  ended(fault, path, isReached) {
    if (path) found++;
    console.log(`${path ? 'found    ' : isReached ? 'SURVIVED ' : 'UNREACHED'} ${fault.description}`);
  },
});
console.log(`${found} of ${faults.length} faults found (${Math.floor((100 * found) / faults.length)} %)`);
process.exit(found === faults.length ? 0 : 1);
