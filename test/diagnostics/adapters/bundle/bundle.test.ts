import { mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  archiveName,
  BundleArchive,
  BundleArchiveError,
  collectParts,
  missingFiles,
  NotApplicableError,
  type BundleFile,
  type BundleIndex,
  type BundlePart,
} from '../../../../src/diagnostics/adapters/bundle/bundle.js';
import { readArchive } from '../../../support/read-archive.js';

const TIME = '2026-11-28T20:30:00.123Z';
const FACTS = { version: '0.1.0', time: TIME };

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'kubeproxy-bundle-'))));

const part = (path: string, collect: BundlePart['collect'], more: Partial<BundlePart> = {}): BundlePart => ({
  path,
  source: `source of ${path}`,
  collect,
  ...more,
});

const file = (path: string, content = 'x'): BundleFile => ({
  path,
  source: 'source',
  state: 'complete',
  durationSeconds: 0,
  content,
});

it('collects parts, and goes on when one of them fails, hangs or does not apply', async () => {
  const files = await collectParts([
    part('text.txt', async () => 'a\n\u001b[2Jb\n'),
    part('fails.txt', async () => {
      throw new Error('--token=abcdefgh is wrong');
    }),
    part('hangs.txt', () => new Promise(() => undefined), { timeout: 20 }),
    part('none.txt', async () => {
      throw new NotApplicableError('not installed');
    }),
    part('value.json', async () => ({ text: '\u001b', token: 'abc' })),
  ]);
  expect(files.map(({ durationSeconds: _, source: __, ...rest }) => rest)).toEqual([
    { path: 'text.txt', state: 'complete', content: 'a\n\\x1b[2Jb\n' },
    { path: 'fails.txt', state: 'missing', reason: '--token=[removed] is wrong' },
    { path: 'hangs.txt', state: 'missing', reason: 'not complete within 0.02 s' },
    { path: 'none.txt', state: 'not-applicable', reason: 'not installed' },
    {
      path: 'value.json',
      state: 'complete',
      content: '{\n  "text": "\\u001b",\n  "token": "[removed]"\n}\n',
    },
  ]);
});

it('ends at the deadline of all parts', async () => {
  const hangs = part('hangs.txt', () => new Promise(() => undefined));
  const files = await collectParts(
    Array.from({ length: 9 }, () => hangs),
    20,
  );
  expect(files.map(({ state }) => state)).toEqual(Array.from({ length: 9 }, () => 'missing'));
});

it('cuts what is too large: the beginning of a log, the end of everything else', async () => {
  const text = `begin ${'x'.repeat(9 * 1024 * 1024)} end`;
  const [rules, log] = await collectParts([
    part('rules.txt', async () => text),
    part('log.txt', async () => text, { keepsEnd: true }),
  ]);
  expect(rules).toMatchObject({
    state: 'truncated',
    reason: expect.stringContaining('the first 8388608 are kept') as string,
  });
  expect(rules!.content).toMatch(/^begin x+$/);
  expect(log).toMatchObject({
    state: 'truncated',
    reason: expect.stringContaining('the last 8388608') as string,
  });
  expect(log!.content).toMatch(/^x+ end$/);
});

it('limits the size of all parts of a node', async () => {
  const large = Array.from({ length: 7 }, (_, index) =>
    part(`${index}.txt`, async () => 'x'.repeat(8 * 1024 * 1024)),
  );
  const sizes = (await collectParts(large)).map(({ content }) => content!.length);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(40 * 1024 * 1024);
});

it('writes an archive for its owner alone, with an index and a readme', async () => {
  const path = join(folder, archiveName(TIME));
  const archive = await BundleArchive.open(path, FACTS);
  await archive.add('node-1', [
    file('debug/status.json', '{"token":"abc"}'),
    { ...file('b'), content: undefined, state: 'missing', reason: 'busy | now' },
  ]);
  await archive.add('cluster', [file('version.json')]);
  const index = await archive.finish();
  expect(missingFiles(index)).toMatchObject([{ path: 'node-1/b', reason: 'busy | now' }]);
  const files = await readArchive(path);
  expect(Object.keys(files)).toEqual([
    'node-1/debug/status.json',
    'cluster/version.json',
    'index.json',
    'README.md',
  ]);
  expect(files['node-1/debug/status.json']).toBe('{"token":"[removed]"}');
  expect(JSON.parse(files['index.json']!) as BundleIndex).toEqual(index);
  expect(index).toMatchObject({
    ...FACTS,
    files: [
      { path: 'cluster/version.json' },
      { path: 'node-1/b', state: 'missing' },
      { path: 'node-1/debug/status.json', state: 'complete', sizeBytes: 21 },
    ],
  });
  expect(files['README.md']).toContain('| node-1/b | source | missing | busy   now |');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(path).toMatch(/kubeproxy-dump-2026-11-28T203000Z\.tar\.gz$/);
});

it('writes nowhere else, whatever a node or a file is called', async () => {
  const path = join(folder, 'a.tar.gz');
  const archive = await BundleArchive.open(path, FACTS);
  await archive.add('../../etc', [file('../x'), file('/y'), file('a\nb/..')]);
  await archive.add('..', [file('')]);
  await archive.finish();
  expect(Object.keys(await readArchive(path)).slice(0, 4)).toEqual([
    '_/_/etc/_/x',
    '_/_/etc/_/y',
    '_/_/etc/a_b/_',
    '_/_',
  ]);
});

it.each([
  ['a file that is there', 'there', /^cannot write .*there: there is such a file; name another file/],
  [
    'a folder that is not there',
    'none/a',
    /^cannot write .*: ENOENT.*; name another file, or - for standard output$/,
  ],
])('does not write to %s', async (_, name, message) => {
  await writeFile(join(folder, 'there'), 'kept');
  const opened = BundleArchive.open(join(folder, name), FACTS);
  await expect(opened).rejects.toThrow(message);
  await expect(opened).rejects.toThrow(BundleArchiveError);
  expect(await readdir(folder)).toEqual(['there']);
});

it('fails when the disk is full', async () => {
  const archive = await BundleArchive.open(join(folder, 'a.tar.gz'), FACTS);
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  (archive as unknown as { tar: { destroy(error: Error): void } }).tar.destroy(full);
  await new Promise(setImmediate);
  await expect(archive.finish()).rejects.toThrow(/^cannot write .*: ENOSPC/);
  await archive.discard();
  expect(await readdir(folder)).toEqual([]);
});

it('removes what it has written when it is discarded', async () => {
  const archive = await BundleArchive.open(join(folder, 'a.tar.gz'), FACTS);
  await archive.add('node', [file('a')]);
  await archive.discard();
  expect(await readdir(folder)).toEqual([]);
});
