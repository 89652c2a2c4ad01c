/** Runs the hermetic tests with faults, all of them planted together and inactive in a copy of the sources. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import configuration from '../../jest.config.mjs';
import { PlantedTests } from './planted-tests.mjs';
import { Reach } from './reach.mjs';

/** All hermetic tests of the program itself. */
export const HERMETIC_TESTS = 'domain,application,testing,adapters,bootstrap,diagnostics';

/** Beyond this, tests of a file that reach a fault run with many faults at the same time. What they miss for that reason counts as missed. */
const LONG_MS = 5000;

export function filesIn(folder, ending) {
  const names = readdirSync(folder, { recursive: true }).sort();
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

/**
 * Runs each test file once without a fault, which shows the faults that each test reaches, and then for each fault the tests that reach
 * it, until one fails: first those near the faulty file, then all others.
 * @param faults each with a number and the path of its file
 * @param texts the files with the faults: [path, text]
 * @param folders of the tests, below `test`
 * @param variants the texts of files that only the active faults change
 * @param isNear only tests beside the faulty file run
 * @param ended called with each fault, the test file that finds it, if one does, and whether a test reaches it
 */
export async function searchHermetic(faults, texts, folders, { variants, isNear = false, ended }) {
  const tests = new PlantedTests(texts, variants);
  process.on('exit', () => tests.remove());
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  const paths = folders
    .split(',')
    .flatMap((folder) => filesIn(`test/${folder}`, '.test.ts').filter(isHermetic));
  const reach = new Reach(tests, paths);
  const missed = new Set(faults);
  const isFound = (fault, { path }) => {
    missed.delete(fault);
    ended(fault, path, true);
  };
  for (const isFar of isNear ? [false] : [false, true]) {
    await reach.explore(isFar ? [...missed] : faults, isFar ? undefined : isBeside);
    for (const fault of [...missed]) {
      const reaching = reach.testsOf(fault).filter(({ path }) => isBeside(path, fault) !== isFar);
      const plan = reaching.filter((test) => !isLong(test, fault)).sort(byLength);
      const failing = await tests.run(plan, [fault]);
      if (failing) isFound(fault, failing);
      else if (isFar && !reach.testsOf(fault).some((test) => isLong(test, fault))) {
        missed.delete(fault);
        ended(fault, undefined, reach.testsOf(fault).length > 0);
      }
    }
  }
  if (!isNear) for (const path of paths) await searchLong(path);
  for (const fault of missed) ended(fault, undefined, reach.testsOf(fault).length > 0);

  async function searchLong(path) {
    const candidates = [...missed].flatMap((fault) => {
      const test = reach.testsOf(fault).find((each) => each.path === path);
      return test && isLong(test, fault) ? [{ fault, test }] : [];
    });
    for (const { fault, test } of await foundBy(candidates)) isFound(fault, test);
  }

  /** Those of the faults that a test file finds. All are active together, and halved as long as it fails. */
  async function foundBy(candidates) {
    if (candidates.length === 0) return [];
    const only = candidates.flatMap(({ test }) => test.only);
    const failing = await tests.run(
      [{ ...candidates[0].test, only }],
      candidates.map(({ fault }) => fault),
    );
    if (!failing) return [];
    if (candidates.length === 1) return candidates;
    const half = candidates.length >> 1;
    return [...(await foundBy(candidates.slice(0, half))), ...(await foundBy(candidates.slice(half)))];
  }
}

const [{ testPathIgnorePatterns: NOT_HERMETIC }] = configuration.projects;

function isHermetic(path) {
  return !NOT_HERMETIC.some((pattern) => new RegExp(pattern.replace('<rootDir>', '')).test(`/${path}`));
}

function isLong(test, fault) {
  return test.length > LONG_MS && test.path !== mirrorOf(fault);
}

function byLength(one, other) {
  return one.length - other.length;
}

function mirrorOf({ path }) {
  return path.replace(/^src(.*)\.ts$/, 'test$1.test.ts');
}

function isBeside(test, fault) {
  return `${dirname(mirrorOf(fault))}/`.startsWith(`${dirname(test)}/`);
}
