/** Runs the hermetic tests with faults, all of them planted together and inactive in a copy of the sources. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PlantedTests } from './planted-tests.mjs';

/** All hermetic tests of the program itself. */
export const HERMETIC_TESTS = 'domain,application,testing,adapters,bootstrap,diagnostics';

/** The processor time that a test file may take, in terms of what it takes without a fault. Beyond that, a fault has made it endless. */
const SLOWEST = { factor: 10, milliseconds: 20_000 };
const WITHOUT_FAULT_MS = 600_000;

/**
 * How near a test file is to the faulty one. Near ones find most faults, and get them one by one: faults that are active together
 * may hide each other. For far ones that would take too long; what they miss for that reason counts as missed.
 */
const DISTANCES = [
  { distance: 'mirror', atOnce: 1 },
  { distance: 'beside', atOnce: 1 },
  { distance: 'far', atOnce: Infinity },
];

export function filesIn(folder, ending) {
  const names = readdirSync(folder, { recursive: true }).sort();
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

/**
 * Each test file runs once without a fault, which shows the faults it reaches, and again with these active until they are found.
 * @param faults each with a number, the path of its file and its description
 * @param texts the files with the faults: [path, text]
 * @param folders of the tests, below `test`
 * @param variants the texts of files that only the active faults change
 * @returns the faults that no test finds, each with whether a test reaches it
 */
export async function searchHermetic(faults, texts, folders, variants) {
  const tests = new PlantedTests(texts, variants);
  process.on('exit', () => tests.remove());
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  const tried = await triedTests(tests, folders);
  const isReached = (fault) => tried.some(({ reached }) => reached.has(fault.number));
  console.log(
    `${tried.length} test files reach ${faults.filter(isReached).length} of ${faults.length} faults`,
  );
  const missed = new Set(faults);
  for (const { distance, atOnce } of DISTANCES)
    for (const test of tried) {
      const reached = [...missed].filter(
        (fault) => test.reached.has(fault.number) && distanceOf(test, fault) === distance,
      );
      for (let at = 0; at < reached.length; at += atOnce)
        for (const fault of await foundBy(test, reached.slice(at, at + atOnce), tests)) missed.delete(fault);
    }
  return [...missed].map((fault) => ({ fault, isReached: isReached(fault) }));
}

/** The test files, each with the processor time it takes and which faults it reaches. */
async function triedTests(tests, folders) {
  const tried = [];
  for (const path of folders.split(',').flatMap((folder) => filesIn(`test/${folder}`, '.test.ts'))) {
    const result = await tests.run(path, [], WITHOUT_FAULT_MS);
    if (result?.passed)
      tried.push({ path, milliseconds: result.milliseconds, reached: new Set(result.reached) });
    else console.log(`left out: ${path} fails without any fault`);
  }
  return tried.sort((a, b) => a.milliseconds - b.milliseconds);
}

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
    console.log(`${result ? 'found  ' : 'endless'} ${faults[0].description} (${test.path})`);
    return faults;
  }
  const half = faults.length >> 1;
  return [
    ...(await foundBy(test, faults.slice(0, half), tests)),
    ...(await foundBy(test, faults.slice(half), tests)),
  ];
}
