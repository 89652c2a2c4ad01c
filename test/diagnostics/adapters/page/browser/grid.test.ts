import fc from 'fast-check';
import {
  nextSort,
  rowAfter,
  scrolledTo,
  visibleRows,
} from '../../../../../src/diagnostics/adapters/page/browser/grid.js';

const list = fc.record({
  top: fc.nat(400_000),
  height: fc.integer({ min: 0, max: 2_000 }),
  rowHeight: fc.integer({ min: 10, max: 80 }),
  count: fc.nat(10_000),
});

describe('the visible rows', () => {
  it('are all that can be seen, and not many more', () => {
    fc.assert(
      fc.property(list, ({ top, height, rowHeight, count }) => {
        const { first, end } = visibleRows(top, height, rowHeight, count);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(count);
        expect(end - first).toBeLessThanOrEqual(height / rowHeight + 20);
        for (const row of [Math.floor(top / rowHeight), Math.ceil((top + height) / rowHeight) - 1])
          if (row >= 0 && row < count && height > 0) expect(first <= row && row < end).toBe(true);
      }),
    );
  });

  it('are none of an empty list', () => {
    expect(visibleRows(0, 500, 34, 0)).toEqual({ first: 0, end: 0 });
  });
});

describe('scrolling to a row', () => {
  it('shows it whole, and moves nothing if it is in view', () => {
    fc.assert(
      fc.property(list, fc.nat(10_000), ({ top, height, rowHeight }, row) => {
        fc.pre(height >= rowHeight);
        const position = scrolledTo(row, top, height, rowHeight);
        expect(position).toBeLessThanOrEqual(row * rowHeight);
        expect(position + height).toBeGreaterThanOrEqual((row + 1) * rowHeight);
        if (row * rowHeight >= top && (row + 1) * rowHeight <= top + height) expect(position).toBe(top);
      }),
    );
  });
});

describe('a key', () => {
  it.each([
    ['ArrowDown', 5, 6],
    ['ArrowUp', 5, 4],
    ['ArrowUp', 0, 0],
    ['ArrowDown', 99, 99],
    ['PageDown', 5, 25],
    ['PageDown', 95, 99],
    ['PageUp', 5, 0],
    ['Home', 5, 0],
    ['End', 5, 99],
  ])('%s leads from row %i of a hundred to %i', (key, row, expected) => {
    expect(rowAfter(key, row, 100, 20)).toBe(expected);
  });

  it('that is no way through a list leads nowhere', () => {
    expect(rowAfter('a', 5, 100, 20)).toBeUndefined();
  });
});

it('a title sorts in ascending order, in descending order, and not at all', () => {
  expect([undefined, 'type', 'name', '-name'].map((sort) => nextSort(sort, 'name'))).toEqual([
    'name',
    'name',
    '-name',
    '',
  ]);
});
