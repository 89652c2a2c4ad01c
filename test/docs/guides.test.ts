import { readdirSync, readFileSync } from 'node:fs';
import { looseCommands } from '../guides/runner/guide.js';

const pages = readdirSync('docs/guides').filter((name) => name.endsWith('.md') && name !== 'README.md');
const tests = readdirSync('test/guides');

describe('every guide', () => {
  it('is in the index, which names nothing else', () => {
    const index = readFileSync('docs/guides/README.md', 'utf8');
    const named = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name);
    expect(named.sort()).toEqual(pages);
  });

  it.each(pages)('%s is tried by a test of its name', (page) => {
    expect(tests).toContain(page.replace('.md', '.test.ts'));
    expect(readFileSync(`docs/guides/${page}`, 'utf8')).toContain('\n```sh\n');
  });

  it.each([
    ...pages.map((page) => `docs/guides/${page}`),
    'deploy/README.md',
    'examples/one-machine/README.md',
  ])('a block of %s that is pasted into a shell stops at its first command that fails', (page) =>
    expect(looseCommands(readFileSync(page, 'utf8'))).toEqual([]),
  );
});
