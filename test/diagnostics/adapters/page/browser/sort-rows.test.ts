import { nextSort } from '../../../../../src/diagnostics/adapters/page/browser/parts/grid/column.js';
import { sortRows } from '../../../../../src/diagnostics/adapters/page/browser/views/services/sort-rows.js';
import { serviceRow } from './samples.js';

const rows = [
  serviceRow('a', { frontends: ['10.96.0.100:80/TCP'], endpoints: { used: 10, known: 10 } }),
  serviceRow('b', { frontends: ['10.96.0.9:80/TCP'], type: 'NodePort', namespace: 'a' }),
  serviceRow('c', { frontends: ['10.96.0.9:443/TCP'], endpoints: { used: 0, known: 3 } }),
  serviceRow('d', { frontends: [], state: 'failed' }),
];
const sorted = (by: string, isDescending = false): string =>
  sortRows(rows, { by, isDescending })
    .map(({ name }) => name)
    .join('');

describe('rows', () => {
  it.each([
    ['state', 'dcab'],
    ['name', 'bacd'],
    ['type', 'acdb'],
    ['endpoints', 'cbda'],
    ['frontends', 'dbca'],
  ])('sorted by %s are %s, what is equal in the order in which it came', (by, names) => {
    expect(sorted(by)).toBe(names);
  });

  it('are sorted the other way round', () => {
    expect(sorted('endpoints', true)).toBe('abdc');
  });

  it('stay as they are, if no column is chosen or there is no such column', () => {
    expect(sortRows(rows, undefined)).toBe(rows);
    expect(sorted('nothing')).toBe('abcd');
  });
});

it('a title leads up, down, and back', () => {
  const up = nextSort(undefined, 'name');
  expect(up).toEqual({ by: 'name', isDescending: false });
  expect(nextSort(up, 'type')).toEqual({ by: 'type', isDescending: false });
  const down = nextSort(up, 'name');
  expect(down).toEqual({ by: 'name', isDescending: true });
  expect(nextSort(down, 'name')).toBeUndefined();
});
