import { asideCountWords } from '../../../../../application/words/aside-words.js';
import { lacksEndpoints, rowWord } from '../../../../../application/words/state-words.js';
import type { ServiceRow } from '../../../../../application/status/service-row.js';
import { markOf, type MarkKind } from '../../parts/mark-kind.js';

/** A column of the list; its name is its class in page.css. */
export interface Column {
  readonly name: 'state' | 'name' | 'type' | 'frontends' | 'endpoints';
  readonly title: string;
  readonly text: (row: ServiceRow) => string;
}

export const COLUMNS: readonly Column[] = [
  { name: 'state', title: 'State', text: rowWord },
  { name: 'name', title: 'Service', text: ({ namespace, name }) => `${namespace}/${name}` },
  { name: 'type', title: 'Type', text: ({ type }) => type ?? '' },
  { name: 'endpoints', title: 'Endpoints', text: endpointsText },
  { name: 'frontends', title: 'Frontends', text: ({ frontends }) => frontends.join('  ') },
];

/** What is wrong goes before that it is programmed. */
export function markOfRow(row: ServiceRow): MarkKind {
  return lacksEndpoints(row) ? 'off' : markOf(row.state);
}

function endpointsText({ endpoints: { used, known, aside } }: ServiceRow): string {
  return `${used === known ? used : `${used} of ${known}`}${asideCountWords(aside)}`;
}
