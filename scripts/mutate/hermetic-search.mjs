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
 * Runs each test file once without a fault, which shows the faults it reaches, and again with these active until they are found.
 * @param faults each with a number, the path of its file and its description
 * @param texts the files with the faults: [path, text]
 * @param folders of the tests, below `test`
 * @param variants the texts of files that only the active faults change
 * @param isNear only tests beside the faulty file run
 * @returns the faults that no test finds, each with whether a test reaches it
 */
export async function searchHermetic(faults, texts, folders, { variants, isNear = false } = {}) {
  const tests = new PlantedTests(texts, variants);
  process.on('exit', () => tests.remove());
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  const paths = folders.split(',').flatMap((folder) => filesIn(`test/${folder}`, '.test.ts'));
  const tried = new Map();
  const reachedAll = new Set();
  const missed = new Set(faults);
  for (const { distance, atOnce } of DISTANCES.slice(0, isNear ? -1 : undefined))
    for (const path of paths) {
      const candidates = [...missed].filter((fault) => distanceOf(path, fault) === distance);
      if (candidates.length === 0) continue;
      const test = tried.get(path) ?? (await triedTest(path, tests));
      tried.set(path, test);
      for (const number of test.reached) reachedAll.add(number);
      const reached = candidates.filter(({ number }) => test.reached.has(number));
      for (let at = 0; at < reached.length; at += atOnce)
        for (const fault of await foundBy(test, reached.slice(at, at + atOnce), tests)) missed.delete(fault);
    }
  return [...missed].map((fault) => ({ fault, isReached: reachedAll.has(fault.number) }));
}

/** A test file, with the processor time it takes and which faults it reaches. */
async function triedTest(path, tests) {
  const result = await tests.run(path, [], WITHOUT_FAULT_MS);
  if (result?.passed) return { path, milliseconds: result.milliseconds, reached: new Set(result.reached) };
  console.log(`left out: ${path} fails without any fault`);
  return { path, milliseconds: 0, reached: new Set() };
}

function distanceOf(test, fault) {
  const mirror = fault.path.replace(/^src(.*)\.ts$/, 'test$1.test.ts');
  if (test === mirror) return 'mirror';
  return `${dirname(mirror)}/`.startsWith(`${dirname(test)}/`) ? 'beside' : 'far';
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
