import type { ServiceRow } from '../../asking/answers.js';
import type { MarkKind } from '../../parts/mark-kind.js';

/** A column of the list; its name is its class in page.css. */
export interface Column {
  readonly name: 'state' | 'name' | 'type' | 'frontends' | 'endpoints';
  readonly title: string;
  readonly text: (row: ServiceRow) => string;
}

const STATES: Readonly<Record<ServiceRow['state'], { readonly mark: MarkKind; readonly word: string }>> = {
  programmed: { mark: 'good', word: 'programmed' },
  pending: { mark: 'waiting', word: 'waiting' },
  failed: { mark: 'bad', word: 'failed' },
  'not-served': { mark: 'off', word: 'not served' },
};

export const COLUMNS: readonly Column[] = [
  { name: 'state', title: 'State', text: stateText },
  { name: 'name', title: 'Service', text: ({ namespace, name }) => `${namespace}/${name}` },
  { name: 'type', title: 'Type', text: ({ type }) => type ?? '' },
  { name: 'endpoints', title: 'Endpoints', text: endpointsText },
  { name: 'frontends', title: 'Frontends', text: ({ frontends }) => frontends.join('  ') },
];

/** What is wrong goes before that it is programmed. */
export function markOf(row: ServiceRow): MarkKind {
  return lacksEndpoints(row) ? 'off' : STATES[row.state].mark;
}

/** Clients of it are refused or lost, although it is programmed as asked for. */
function lacksEndpoints({ state, endpoints }: ServiceRow): boolean {
  return state === 'programmed' && endpoints.used === 0;
}

function stateText(row: ServiceRow): string {
  return lacksEndpoints(row) ? 'no endpoint' : STATES[row.state].word;
}

function endpointsText({ endpoints: { used, known } }: ServiceRow): string {
  return used === known ? String(used) : `${used} of ${known}`;
}
