import { lacksEndpoints, NO_ENDPOINT } from '../../../../../application/words.js';
import type { RowState, ServiceRow } from '../../../../../application/status/service-row.js';
import { addressOrder } from '../../address-order.js';
import { compare } from '../../compare.js';
import type { Sort } from '../../parts/grid/column.js';

/** What needs somebody most comes first. */
const STATES: readonly (RowState | typeof NO_ENDPOINT)[] = [
  'failed',
  'degraded',
  NO_ENDPOINT,
  'pending',
  'not-served',
  'programmed',
];

type Rank = string | number;

/** By what the rows of a column are sorted. */
const RANKS: Readonly<Record<string, (row: ServiceRow) => Rank>> = {
  state: (row) => STATES.indexOf(lacksEndpoints(row) ? NO_ENDPOINT : row.state),
  name: ({ namespace, name }) => `${namespace}\0${name}`,
  type: ({ type = '' }) => type,
  endpoints: ({ endpoints }) => endpoints.used,
  frontends: ({ frontends }) => addressOrder(frontends[0] ?? ''),
};

/** The rows by a column; those that are equal there stay in their order. */
export function sortRows<Row extends ServiceRow>(
  rows: readonly Row[],
  sort: Sort | undefined,
): readonly Row[] {
  const rank = sort && RANKS[sort.by];
  if (!rank) return rows;
  const sign = sort.isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, rank: rank(row) }))
    .sort((a, b) => sign * compare(a.rank, b.rank))
    .map(({ row }) => row);
}
