import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thirdPartyNotices } from '../../scripts/third-party-notices.mjs';
import { builtProxy } from '../support/program/built-proxy.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
interface Listed {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}
/** Where the folder of a package ends in the path of a source. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

describe('dist/THIRD-PARTY-NOTICES', () => {
  let notices: string;
  let folder: string;
  beforeAll(async () => {
    folder = dirname(await builtProxy());
    notices = await readFile(join(folder, 'THIRD-PARTY-NOTICES'), 'utf8');
  });

  /** A package's own name, version and license file. */
  async function expectNamed(place: string): Promise<void> {
    const { name, version } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'));
    const license = (await readdir(place)).find((file) => /^licen[cs]e(\.\w+)?$/i.test(file));
    const [, text] = notices.split(`\n${name} ${version} (`);
    expect([name, text?.split('='.repeat(100))[0]]).toEqual([
      name,
      expect.stringContaining((await readFile(join(place, license!), 'utf8')).trim()),
    ]);
  }

  it('has the license of each package that the source maps of the program show', async () => {
    const maps = (await readdir(folder)).filter((name) => name.endsWith('.map'));
    const sources = await Promise.all(
      maps.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')).sources as string[]),
    );
    const places = new Set(sources.flat().flatMap((source) => PACKAGE.exec(source)?.[0] ?? []));
    expect(places.size).toBeGreaterThan(50);
    for (const place of places) await expectNamed(join(folder, place));
  });

  it('has that of each package that the page imports', async () => {
    const page = join(repository, 'src/diagnostics/adapters/page/browser');
    const files = (await readdir(page, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
    const texts = await Promise.all(files.map((file) => readFile(join(page, file), 'utf8')));
    const imported = texts.flatMap((text) =>
      [...text.matchAll(/ from '((?:@[\w-]+\/)?\w[\w.-]*)/g)].map(([, name]) => name!),
    );
    expect(imported).toEqual(expect.arrayContaining(['preact']));
    for (const name of new Set(imported)) await expectNamed(join(repository, 'node_modules', name));
  });

  it('has that of each package that dist/bundled-packages.json lists, and of koffi, which is beside the bundle', async () => {
    const listed = JSON.parse(await readFile(join(folder, 'bundled-packages.json'), 'utf8'));
    const titles = listed.map((one: Listed) => `\n${one.name} ${one.version} (${one.license})\n`);
    expect(titles.filter((title: string) => !notices.includes(title))).toEqual([]);
    await expectNamed(join(repository, 'node_modules/koffi'));
  });

  it('has that of code which a package has taken over', () => {
    expect(notices).toContain('Copyright (c) 2017 [Node.js API collaborators]');
  });
});

describe('a package to be bundled', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeproxy-notices-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const one = () => ({ name: 'silent', version: '1.0.0', license: 'MIT', folder });

  it('fails the build by name if it has no license file, whatever its dependencies have', async () => {
    await mkdir(join(folder, 'node_modules/other'), { recursive: true });
    await writeFile(join(folder, 'node_modules/other/LICENSE'), 'Theirs.');
    await expect(thirdPartyNotices([one()])).rejects.toThrow(/no license file in silent 1\.0\.0 /);
  });

  it('is followed by all its notices', async () => {
    await mkdir(join(folder, 'vendor'), { recursive: true });
    for (const name of ['LICENSE.txt', 'NOTICE', 'vendor/COPYING'])
      await writeFile(join(folder, name), `The text of ${name}.\n`);
    expect(await thirdPartyNotices([one()])).toContain(
      '\nsilent 1.0.0 (MIT)\n\nThe text of LICENSE.txt.\n\nThe text of NOTICE.\n\nThe text of vendor/COPYING.',
    );
  });
});
