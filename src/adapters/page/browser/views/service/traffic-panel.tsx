import type { JSX } from 'preact';
import { bytesText, countingWords } from '../../../../../application/words/traffic-words.js';
import type { PortReport, TrafficReport } from '../../../../../domain/traffic/traffic-report.js';
import { trafficOf } from '../../asking/routes.js';
import { useLines } from '../../asking/use-lines.js';
import { MOST, moreThanShown } from '../../parts/lines.js';
import { Mark } from '../../parts/mark.js';
import { portWords } from '../../../../../application/words/port-words.js';
import { Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Trouble } from '../../parts/trouble.js';
import { endpointAddress } from './words.js';

/** The connections of a Service, second by second. The proxy counts them only while somebody looks. */
export function TrafficPanel({ service }: { readonly service: string }): JSX.Element {
  const { value, problem } = useLines<TrafficReport>(trafficOf(service));
  return (
    <Panel id="traffic" title="Traffic">
      <Trouble problem={problem} what="traffic" />
      {!value && !problem && <p class="absent">Counting…</p>}
      {value && <Facts report={value} />}
      {value?.services.map((port) => (
        <PortTraffic
          key={`${port.family} ${port.port} ${port.protocol}`}
          port={port}
          countsBytes={value.countsBytes}
        />
      ))}
    </Panel>
  );
}

/** What to know about the numbers; nothing if they are exact and complete. */
function Facts({ report }: { readonly report: TrafficReport }): JSX.Element | null {
  const facts = countingWords(report);
  if (facts.length === 0) return null;
  return <p class="quiet">{facts.join('; ')}.</p>;
}

function PortTraffic({
  port,
  countsBytes,
}: {
  readonly port: PortReport;
  readonly countsBytes: boolean;
}): JSX.Element {
  return (
    <>
      <Table
        kind="traffic"
        titles={[
          `${portWords(port)}, ${port.family}`,
          ...['Open', 'New/s', 'Unanswered', ...(countsBytes ? ['Bytes/s'] : [])].map((number) => ({
            number,
          })),
        ]}
      >
        <Numbers name="all" numbers={port} countsBytes={countsBytes} />
        {port.endpoints.slice(0, MOST).map((endpoint) => (
          <Numbers
            key={endpointAddress(endpoint)}
            name={endpointAddress(endpoint)}
            numbers={endpoint}
            isSilent={endpoint.silent}
            countsBytes={countsBytes}
          />
        ))}
      </Table>
      <p class="quiet">{moreThanShown(port.endpoints.length)}</p>
    </>
  );
}

interface NumbersProps {
  readonly name: string;
  readonly numbers: Pick<PortReport, 'open' | 'newPerSecond' | 'unanswered' | 'bytesPerSecond'>;
  readonly isSilent?: boolean;
  readonly countsBytes: boolean;
}

function Numbers({ name, numbers, isSilent = false, countsBytes }: NumbersProps): JSX.Element {
  const { open, newPerSecond, unanswered, bytesPerSecond } = numbers;
  return (
    <tr>
      <td>
        <code>{name}</code>
        {isSilent && (
          <span class="bad">
            {' '}
            <Mark kind="bad" /> ready, but answers nobody
          </span>
        )}
      </td>
      <td class="number">{open.toLocaleString('en')}</td>
      <td class="number">{newPerSecond.toLocaleString('en', { maximumFractionDigits: 1 })}</td>
      <td class={`number ${unanswered > 0 ? 'bad' : ''}`}>{unanswered.toLocaleString('en')}</td>
      {countsBytes && <td class="number">{bytesPerSecond === undefined ? '' : bytesText(bytesPerSecond)}</td>}
    </tr>
  );
}
