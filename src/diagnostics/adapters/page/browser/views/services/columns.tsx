import { asideCountWords } from '../../../../../../application/words.js';
import { lacksEndpoints, rowWord } from '../../../../../application/words.js';
import type { ServiceRow } from '../../../../../application/status/service-row.js';
import { hrefOf, type Place } from '../../place.js';
import type { Column } from '../../parts/grid/column.js';
import { markOf, type MarkKind } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import type { FoundService } from './search.js';

export const COLUMNS: readonly Column<FoundService>[] = [
  {
    name: 'state',
    title: 'State',
    text: rowWord,
    tip: ({ reason }) => reason,
    cell: (row) => (
      <>
        <Mark kind={markOfRow(row)} /> {rowWord(row)}
      </>
    ),
  },
  {
    name: 'name',
    title: 'Service',
    text: ({ namespace, name }) => `${namespace}/${name}`,
    cell: (row) => (
      <a href={hrefOf(placeOfRow(row))} tabIndex={-1}>
        <span class="namespace">{row.namespace}/</span>
        {row.name}
      </a>
    ),
  },
  { name: 'type', title: 'Type', text: ({ type }) => type ?? '' },
  { name: 'endpoints', title: 'Endpoints', text: endpointsText },
  {
    name: 'frontends',
    title: 'Frontends',
    text: ({ frontends, found }) => [...(found ? [`→ ${found}`] : []), ...frontends].join('  '),
  },
];

export function placeOfRow({ namespace, name }: ServiceRow): Place {
  return { view: 'service', namespace, name };
}

/** What is wrong goes before that it is programmed. */
function markOfRow(row: ServiceRow): MarkKind {
  return lacksEndpoints(row) ? 'off' : markOf(row.state);
}

function endpointsText({ endpoints: { used, known, aside } }: ServiceRow): string {
  return `${used === known ? used : `${used} of ${known}`}${asideCountWords(aside)}`;
}
