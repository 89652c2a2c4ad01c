import { readFileSync } from 'node:fs';
import { readSource } from '../../../architecture/source-tree.js';

const TERMINAL = 'src/diagnostics/adapters/cli';
const PAGE = 'src/diagnostics/adapters/page/browser';

function sourcesOf(folder: string): ReadonlyMap<string, string> {
  const paths = readSource().flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path] : []));
  expect(paths.length).toBeGreaterThan(8);
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

const terminal = sourcesOf(TERMINAL);
const page = sourcesOf(PAGE);

/** What says how something is. */
const WORDS = [
  ['a proxy', 'words', 'proxyWord'],
  ['a frontend', 'words', 'outcomeWords'],
  ['an endpoint', 'words', '(endpointWords|conditionWords)'],
  ['a family', 'words', 'familyWords'],
  ['a watch', 'words', 'watchWords'],
] as const;

describe('the state of', () => {
  it.each(WORDS)('%s has the words of %s on terminals and on the page', (_, file, name) => {
    const imported = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '[./]*/application/${file}\\.js'`);
    const uses = (sources: ReadonlyMap<string, string>): boolean =>
      [...sources.values()].some((source) => imported.test(source));
    expect([uses(terminal), uses(page)]).toEqual([true, true]);
  });
});

/** Words that are for people alone, and those that say the same otherwise. */
const OWN =
  /no endpoint\b(?! is)|not[ -]serving\b(?!')|does not answer\b(?! \$)|answers nobody|\bis held\b|held by\b|belongs to|all is well/i;
/** Text of the program: literals, and what stands between tags. */
const TEXTS = /'[^'\n]*'|"[^"\n]*"|`[^`]*`|>[^<>{}\n]+</g;
/** The machine's words for states, with the colors for them. */
const OTHERS = [`${TERMINAL}/output.ts`];
/** Sentences of `--help`. */
const HELP = /Ends with 0/;

it('no state has words of its own on terminals or on the page', () => {
  const found = [...terminal, ...page].flatMap(([path, source]) =>
    OTHERS.some((other) => path.startsWith(other))
      ? []
      : [...source.replaceAll(/\/\*[^]*?\*\//g, '').matchAll(TEXTS)]
          .filter(([text]) => OWN.test(text) && !HELP.test(text))
          .map(([text]) => `${path}: ${text}`),
  );
  expect(found).toEqual([]);
});
