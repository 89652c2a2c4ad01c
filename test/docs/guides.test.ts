import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { looseCommands } from '../guides/runner/guide.js';

const FOLDERS = ['docs/install', 'docs/clusters', 'docs/configuration', 'docs/evidence'];
const pagesOf = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => `${folder}/${name}`);
const hasCommands = (page: string): boolean => readFileSync(page, 'utf8').includes('\n```sh\n');
const guides = FOLDERS.flatMap(pagesOf).filter(hasCommands);
const tests = readdirSync('test/guides');

describe('every guide', () => {
  it.each(['docs/install', 'docs/clusters'])('of %s is in its index, which names nothing else', (folder) => {
    const index = readFileSync(`${folder}/README.md`, 'utf8');
    const named = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => `${folder}/${name}`);
    expect(named.sort()).toEqual(pagesOf(folder));
  });

  it('with commands is tried by a test of its name', () => {
    expect(guides.length).toBeGreaterThan(13);
    expect(guides.filter((page) => !tests.includes(basename(page, '.md') + '.test.ts'))).toEqual([]);
  });

  it.each([...guides, 'deploy/README.md', 'examples/one-machine/README.md'])(
    'a block of %s that is pasted into a shell stops at its first command that fails',
    (page) => expect(looseCommands(readFileSync(page, 'utf8'))).toEqual([]),
  );
});
