import type { ComponentChildren } from 'preact';
import { SILENT, bytesText } from '../../../../../application/words.js';
import type { EndpointReport, PortReport } from '../../../../../domain/traffic.js';
import type { Column } from '../../parts/grid/column.js';
import { Mark } from '../../parts/mark.js';
import { endpointAddress } from './words.js';

/** A service port, for its sums, or one of its endpoints. */
type Counted = PortReport | EndpointReport;

export function nameOf(counted: Counted): string {
  return 'address' in counted ? endpointAddress(counted) : 'all';
}

export function columnsOf(countsBytes: boolean): readonly Column<Counted>[] {
  const bytes = ({ bytesPerSecond }: Counted): string =>
    bytesPerSecond === undefined ? '' : bytesText(bytesPerSecond);
  return [
    { name: 'address', title: 'Endpoint', text: nameText, cell: nameCell },
    number('Open', ({ open }) => open.toLocaleString('en')),
    number('New/s', ({ newPerSecond }) => newPerSecond.toLocaleString('en', { maximumFractionDigits: 1 })),
    number(
      'Unanswered',
      ({ unanswered }) => unanswered.toLocaleString('en'),
      (counted) => (
        <b class={counted.unanswered > 0 ? 'bad' : 'none'}>{counted.unanswered.toLocaleString('en')}</b>
      ),
    ),
    ...(countsBytes ? [number('Bytes/s', bytes)] : []),
  ];
}

function number(
  title: string,
  text: (counted: Counted) => string,
  cell: (counted: Counted) => ComponentChildren = text,
): Column<Counted> {
  return { name: 'number', title, text, cell };
}

function nameText(counted: Counted): string {
  return `${nameOf(counted)}${isSilent(counted) ? `: ${SILENT}` : ''}`;
}

function nameCell(counted: Counted): ComponentChildren {
  return (
    <>
      <code>{nameOf(counted)}</code>
      {isSilent(counted) && (
        <span class="bad">
          {' '}
          <Mark kind="bad" /> {SILENT}
        </span>
      )}
    </>
  );
}

function isSilent(counted: Counted): boolean {
  return 'silent' in counted && counted.silent === true;
}
