import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly homepage: string;
  readonly repository: { readonly url: string };
  readonly bugs: { readonly url: string };
  readonly keywords: readonly string[];
  readonly maintainers: readonly { readonly name: string; readonly url: string }[];
}

const own = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const source = own.repository.url.replace(/^git\+|\.git$/g, '');

it('the chart says what the package says', () => {
  expect(parse(readFileSync('deploy/chart/Chart.yaml', 'utf8'))).toMatchObject({
    name: own.name,
    version: own.version,
    appVersion: own.version,
    home: own.homepage,
    sources: [source],
    keywords: own.keywords,
    maintainers: own.maintainers,
  });
  expect(own.homepage).toBe(`${source}#readme`);
  expect(own.bugs.url).toBe(`${source}/issues`);
});

it.each([
  ['README.md', /^# (.*)$/m],
  ['site/.vitepress/config.mjs', /^ {2}title: '(.*)',$/m],
  ['src/diagnostics/adapters/page/browser/index.html', /<title>(.*)<\/title>/],
  ['deploy/chart/monitoring/dashboard.json', /^ {2}"title": "(.*)"/m],
  ['deploy/image/archive.mjs', /image\.title': '(.*)'/],
  ['deploy/debian/build.sh', /^name=(.*)$/m],
])('%s has the name of the product as its title', (file, title) => {
  expect(title.exec(readFileSync(file, 'utf8'))?.[1]).toBe(own.name);
});

it.each(
  readdirSync('.github', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yml')),
)('.github/%s runs what is there', (file) => {
  const text = readFileSync(`.github/${file}`, 'utf8');
  expect(parse(text)).toEqual(expect.any(Object));
  for (const [script] of text.matchAll(/(?:\.ci|deploy|scripts)\/[\w./-]+/g))
    expect(() => readFileSync(script)).not.toThrow(/ENOENT/);
});
