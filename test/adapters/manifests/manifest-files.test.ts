import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManifestFiles } from '../../../src/adapters/manifests/manifest-files.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'manifest-files-'));
  for (const folder of ['a', 'b']) {
    mkdirSync(join(root, folder));
    for (const name of ['1.yaml', '2.json', '.3.yaml', '4.txt']) writeFileSync(join(root, folder, name), '');
  }
});
afterEach(() => rmSync(root, { recursive: true }));

const paths = (...names: readonly string[]): readonly string[] => names.map((name) => join(root, name));
const listed = (...names: readonly string[]): readonly string[] =>
  ManifestFiles.open(paths(...names))
    .list()
    .files.map((file) => file.slice(root.length + 1));

it.each([
  { given: ['b', 'a'], order: ['b/1.yaml', 'b/2.json', 'a/1.yaml', 'a/2.json'] },
  { given: ['a/1.yaml', 'b', 'a'], order: ['b/1.yaml', 'b/2.json', 'a/1.yaml', 'a/2.json'] },
  { given: ['a', 'a/1.yaml'], order: ['a/2.json', 'a/1.yaml'] },
  {
    given: ['b', 'a', 'b/2.json', 'a/4.txt'],
    order: ['b/1.yaml', 'a/1.yaml', 'a/2.json', 'b/2.json', 'a/4.txt'],
  },
])('of $given the later path wins, and each order is the same', ({ given, order }) => {
  expect(listed(...given)).toEqual(order);
  const files = ManifestFiles.open(paths(...given));
  expect(paths(...order).toSorted(files.compare)).toEqual(paths(...order));
  expect(
    paths(...order)
      .toReversed()
      .toSorted(files.compare),
  ).toEqual(paths(...order));
  const others = paths('a/.3.yaml', 'b/4.txt', 'c/1.yaml', '1.yaml');
  expect(others.filter((file) => files.includes(file))).toEqual([]);
});

describe('a file that is missing', () => {
  it('was removed from its folder, unless the folder is gone or another one that is empty', () => {
    const files = ManifestFiles.open(paths('a', 'b/1.yaml'));
    const [inFolder, given] = paths('a/1.yaml', 'b/1.yaml') as [string, string];
    files.list();
    expect([inFolder, given].map((one) => files.isOutOfSight(one))).toEqual([false, true]);
    renameSync(join(root, 'a'), join(root, 'moved'));
    expect(files.isOutOfSight(inFolder)).toBe(true);
    expect(files.list().unlisted).toEqual([expect.objectContaining({ path: join(root, 'a') })]);
    mkdirSync(join(root, 'a'));
    expect(files.isOutOfSight(inFolder)).toBe(true);
    writeFileSync(inFolder, '');
    expect(files.isOutOfSight(inFolder)).toBe(false);
  });
});
