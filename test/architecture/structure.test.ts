import { importCircles, readSource, type SourceFile } from './source-tree.js';

const FILES_PER_FOLDER = 15;

let source: readonly SourceFile[];
beforeAll(() => {
  source = readSource();
});

it(`no folder has more than ${FILES_PER_FOLDER} files`, () => {
  const folders = new Set(source.map(({ folder }) => folder));
  const sizeOf = (folder: string): number => source.filter((file) => file.folder === folder).length;
  const large = [...folders].filter((folder) => sizeOf(folder) > FILES_PER_FOLDER);
  expect(large).toEqual([]);
});

it('no file imports itself by way of others, not even for types', () => {
  expect(importCircles(source)).toEqual([]);
});

describe('circles of imports', () => {
  const file = (path: string, ...imports: readonly string[]): SourceFile => ({
    path,
    folder: '',
    imports,
  });

  it('are found, whatever leads into them', () => {
    expect(
      importCircles([
        file('a', 'b'),
        file('b', 'c'),
        file('c', 'd'),
        file('d', 'b', 'e'),
        file('e'),
        file('f', 'g'),
        file('g', 'f'),
      ]),
    ).toEqual([
      ['b', 'c', 'd'],
      ['f', 'g'],
    ]);
  });

  it('are none where two ways lead to one file', () => {
    expect(importCircles([file('a', 'b', 'c'), file('b', 'd'), file('c', 'd'), file('d')])).toEqual([]);
  });
});
