import type { JSX } from 'preact';
import type { ChangeEntry, ServicePortChange } from '../../../../../application/status/change-entry.js';
import { changeWords, outcomeOf } from './change-words.js';
import { Mark } from './mark.js';
import { PortLink } from './port-link.js';
import { portWords } from '../../../../application/words.js';
import { readServicePort } from './service-port.js';
import { Table } from './table.js';
import { clockTime, span } from './time.js';

interface ChangesProps {
  /** In the order in which they are shown. */
  readonly changes: readonly ChangeEntry[];
  /** Whether the rows name their service ports in full. */
  readonly naming?: boolean;
}

/** What was programmed when, how long that took, and what it changed. */
export function Changes({ changes, naming = false }: ChangesProps): JSX.Element {
  if (changes.length === 0)
    return <p class="absent">Nothing has changed since the start, as far as is remembered.</p>;
  return (
    <Table titles={['At', 'Result', naming ? 'Service port' : 'Port', { number: 'Took' }, 'What']}>
      {changes.map((change, place) => (
        <Row key={`${change.at} ${place}`} change={change} naming={naming} />
      ))}
    </Table>
  );
}

function portOf({ servicePort }: ServicePortChange): string {
  const port = readServicePort(servicePort);
  return port ? portWords(port) : servicePort;
}

function Row({ change, naming }: { readonly change: ChangeEntry; readonly naming: boolean }): JSX.Element {
  const { mark, word } = outcomeOf(change);
  return (
    <tr>
      <td>
        <time dateTime={change.at}>{clockTime(change.at)}</time>
      </td>
      <td class={mark}>
        <Mark kind={mark} /> {word}
      </td>
      <td>
        {change.what !== 'service-port' && `all of ${change.family}`}
        {change.what === 'service-port' && naming && <PortLink port={change.servicePort} />}
        {change.what === 'service-port' && !naming && portOf(change)}{' '}
        {change.what === 'service-port' && <span class="quiet">{change.family}</span>}
      </td>
      <td class="number">{change.took === undefined ? '' : span(change.took)}</td>
      <td class="words">{changeWords(change)}</td>
    </tr>
  );
}
