import { isFailing } from '../../../../../application/words/state-words.js';
import type { ServiceRow } from '../../../../../application/status/service-row.js';
import type { Show } from '../../place.js';

/** The services of one answer, made ready to be searched at each letter that is typed. */
export class Search {
  private readonly texts: readonly string[];

  constructor(private readonly rows: readonly ServiceRow[]) {
    this.texts = rows.map(({ namespace, name, type = '', frontends, state, reason = '' }) =>
      [`${namespace}/${name}`, type, state, reason, ...frontends].join(' ').toLowerCase(),
    );
  }

  /** The rows, in order, in which every word of the text occurs: in the name, the type, the state and its reason, or an address. */
  matching(text: string, show: Show): readonly ServiceRow[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0 && show === 'all') return this.rows;
    return this.rows.filter(
      (row, place) => isShown(row, show) && words.every((word) => this.texts[place]!.includes(word)),
    );
  }
}

function isShown(row: ServiceRow, show: Show): boolean {
  switch (show) {
    case 'all':
      return true;
    case 'failing':
      return isFailing(row);
    case 'without-endpoints':
      return row.endpoints.used === 0;
  }
}
