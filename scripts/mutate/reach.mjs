import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Which tests reach which faults. */
export class Reach {
  #tests;
  #imports;
  /** What each test file that has run takes and reaches. */
  #explored = new Map();
  /** Faults that are reached while files are loaded: once in a process, whichever file it runs. */
  #whileLoading = new Set();

  /** @param tests what runs them @param paths of all test files */
  constructor(tests, paths) {
    this.#tests = tests;
    const read = new Map();
    this.#imports = new Map(paths.map((path) => [path, importsOf(path, read)]));
  }

  /** Runs the test files that import the files of faults without a fault, unless they have run. */
  async explore(faults, isConcerned = () => true) {
    let waiting = [...this.#imports]
      .filter(([path]) => !this.#explored.has(path))
      .filter(([path, all]) => faults.some((fault) => all.has(fault.path) && isConcerned(path, fault)))
      .map(([path]) => ({ path }));
    while (waiting.length > 0) {
      const failing = await this.#tests.run(waiting, [], ({ path }, answer) => this.#note(path, answer));
      if (!failing) return;
      console.log(`left out: ${failing.path} fails without any fault`);
      this.#note(failing.path, { milliseconds: [], reached: [] });
      waiting = waiting.slice(waiting.indexOf(failing) + 1);
    }
  }

  /** The test files that reach a fault, each with the numbers of the tests that do, and what they take. */
  testsOf(fault) {
    return [...this.#explored].flatMap(([path, { milliseconds, places }]) => {
      const all = milliseconds.map((_, test) => test);
      const isLoaded = this.#whileLoading.has(fault.number) && this.#imports.get(path).has(fault.path);
      const reached = places.get(fault.number) ?? (isLoaded ? ['hook'] : []);
      const only = reached.some((place) => place === 'hook') ? all : reached.map(Number);
      const length = only.reduce((sum, test) => sum + milliseconds[test], 0);
      return only.length > 0 ? [{ path, only, milliseconds, length }] : [];
    });
  }

  #note(path, { milliseconds, reached }) {
    const places = new Map();
    for (const [number, place] of reached.map((each) => each.split(' '))) {
      if (place === 'load') this.#whileLoading.add(Number(number));
      const known = places.get(Number(number)) ?? [];
      places.set(Number(number), [...known, place === 'load' ? 'hook' : place]);
    }
    this.#explored.set(path, { milliseconds, places });
  }
}

/** All files that a file imports, with those that these import. */
function importsOf(path, read) {
  const all = new Set([path]);
  for (const each of all) {
    if (!read.has(each)) read.set(each, directImports(each));
    for (const imported of read.get(each)) all.add(imported);
  }
  return all;
}

function directImports(path) {
  const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'));
  const names = importedFiles.map(({ fileName }) => fileName).filter((name) => /^\..*\.js$/.test(name));
  return names
    .map((name) => join(path, '..', name.replace(/\.js$/, '.ts')))
    .filter((path) => existsSync(path));
}
