import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { HERMETIC_TESTS, searchHermetic } from '../mutate/hermetic-search.mjs';
import { withFault } from './faults.mjs';

/**
 * Runs the hermetic tests that reach each fault.
 * @param isNear only tests beside the faulty file run
 * @param ended called with each fault and whether it was found
 */
export async function searchTests(planted, isNear, ended) {
  const faults = planted.map((fault, number) => ({ ...fault, number, path: fault.file }));
  await searchHermetic(faults, textsOf(faults, marked), HERMETIC_TESTS, {
    variants: (active) => textsOf(active, (text, some) => some.reduce(withFaultIfPossible, text)),
    isNear,
    ended: (fault, path) => ended(fault, path && `by ${path}`),
  });
}

/** The files of faults: [path, text]. */
function textsOf(faults, textWith) {
  const paths = [...new Set(faults.map(({ path }) => path))];
  return paths.map((path) => [
    path,
    textWith(
      readFileSync(path, 'utf8'),
      faults.filter((fault) => fault.path === path),
    ),
  ]);
}

/** Of two faults at the same place, only the first can be active. */
function withFaultIfPossible(text, fault) {
  return text.includes(fault.original) ? withFault(text, fault) : text;
}

/** A text whose functions note which faults inside them are reached. */
function marked(text, faults) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const insertions = [];
  for (const { original, number } of faults) {
    const mark = `globalThis.__fault?.(${number})`;
    const body = bodyAround(source, text.indexOf(original) + original.search(/\S/));
    if (!body) insertions.push([0, `${mark}; `]);
    else if (ts.isBlock(body)) insertions.push([body.getStart() + 1, ` ${mark}; `]);
    else insertions.push([body.getStart(), `(${mark}, `], [body.end, ')']);
  }
  return insertions
    .sort(([one], [other]) => other - one)
    .reduce((all, [at, inserted]) => all.slice(0, at) + inserted + all.slice(at), text);
}

/** The body of the innermost function at a place. */
function bodyAround(source, place) {
  let found;
  const visit = (node) => {
    if (node.getStart() > place || node.end <= place) return;
    if (ts.isFunctionLike(node) && node.body && node.body.getStart() <= place) found = node.body;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
