import type { ChangeEntry } from '../../../../../../application/status/change-entry.js';
import { changeWords, outcomeOf } from '../../parts/change-words.js';
import type { Column } from '../../parts/grid/column.js';
import { Mark } from '../../parts/mark.js';
import { readServicePort } from '../../parts/service-port.js';
import { clockTime, span } from '../../parts/time.js';
import { hrefOf, type Place } from '../../place.js';
import { subjectText } from './search-changes.js';

export const COLUMNS: readonly Column<ChangeEntry>[] = [
  { name: 'at', title: 'At', text: ({ at }) => clockTime(at) },
  {
    name: 'state',
    title: 'Result',
    text: (change) => outcomeOf(change).word,
    cell: (change) => {
      const { mark, word } = outcomeOf(change);
      return (
        <>
          <Mark kind={mark} /> {word}
        </>
      );
    },
  },
  {
    name: 'name',
    title: 'Service port',
    text: subjectText,
    cell: (change) => {
      const place = placeOfChange(change);
      const text = subjectText(change);
      if (!place) return text;
      const service = `${place.namespace}/${place.name}`;
      return (
        <>
          <a href={hrefOf(place)} tabIndex={-1}>
            {service}
          </a>
          {text.slice(service.length)}
        </>
      );
    },
  },
  { name: 'number', title: 'Took', text: ({ took }) => (took === undefined ? '' : span(took)) },
  { name: 'words', title: 'What', text: changeWords },
];

/** The Service that was changed, if it was one. */
export function placeOfChange(change: ChangeEntry): Extract<Place, { readonly view: 'service' }> | undefined {
  const port = change.what === 'service-port' ? readServicePort(change.servicePort) : undefined;
  return port && { view: 'service', namespace: port.namespace, name: port.name };
}
