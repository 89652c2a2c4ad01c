import { importCircles, readSource, type SourceFile } from './source-tree.js';

let source: readonly SourceFile[];
beforeAll(() => {
  source = readSource();
});

it('no file imports itself by way of others, not even for types', () => {
  expect(importCircles(source)).toEqual([]);
});

describe('circles of imports', () => {
  const file = (path: string, ...imports: readonly string[]): SourceFile => ({
    path,
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
