import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anchor } from '../../site/.vitepress/anchor.mjs';
import { SECTIONS } from '../../site/.vitepress/sections.mjs';

const repository = fileURLToPath(new URL('../../', import.meta.url));

const ROOMS = ['src', 'test', 'bench', 'scripts', 'docs', 'deploy', 'examples'];
const TEXTS = /\.(ts|mts|mjs|sh|md|yaml)$/;
const NOT_OURS = /(^|\/)(node_modules|docs\/api)(\/|$)/;
/** `docs/internals/spec/server.md §8.4, §9`. */
const CITATION = /\bspec\/([a-z\d.-]+\.md)((?:(?:,? | and |–)§[\d.]*\d)*)/g;
const LINK = /\]\(([^)\s]+)\)/g;

function texts(path: string): readonly string[] {
  if (NOT_OURS.test(relative(repository, path))) return [];
  if (!statSync(path).isDirectory()) return TEXTS.test(path) ? [path] : [];
  return readdirSync(path).flatMap((name) => texts(join(path, name)));
}

const pages = readdirSync(repository).filter((name) => name.endsWith('.md'));
const files = [...ROOMS, ...pages].flatMap((name) => texts(join(repository, name)));

function headings(page: string): readonly string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
}

it('every section of the specification that is cited is there', () => {
  const cited = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(CITATION)].flatMap(([, page, sections]) => {
      const numbers = [...sections!.matchAll(/§([\d.]+)/g)].map(([, number]) => number!);
      return [undefined, ...numbers].map((section) => ({
        file: relative(repository, file),
        page: page!,
        section,
      }));
    }),
  );
  const missing = cited.filter(({ page, section }) => {
    const path = join(repository, 'docs/internals/spec', page);
    if (!existsSync(path)) return true;
    return section !== undefined && !headings(path).some((heading) => heading.split(/\.? /)[0] === section);
  });
  expect(missing).toEqual([]);
  expect(cited.length).toBeGreaterThan(150);
});

it('every link between pages leads to a page, and to a heading of it', () => {
  const broken = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(LINK)].flatMap(([, target]) => {
        if (/^[a-z]+:/.test(target!)) return [];
        const [path = '', fragment] = target!.split('#');
        const page = path === '' ? file : resolve(dirname(file), path);
        const leads =
          existsSync(page) &&
          (fragment === undefined || headings(page).some((heading) => anchor(heading) === fragment));
        return leads ? [] : [`${relative(repository, file)}: ${target}`];
      }),
    );
  expect(broken).toEqual([]);
});

it('every page is in one section of the site, which has no others', () => {
  const written = files
    .map((file) => relative(repository, file))
    .filter((file) => file.endsWith('.md') && !/^(?:src|test|bench|scripts)\//.test(file));
  const listed = ['README.md', ...SECTIONS.flatMap(([, pages]) => pages)];
  expect([...listed].sort()).toEqual(written.sort());
});
