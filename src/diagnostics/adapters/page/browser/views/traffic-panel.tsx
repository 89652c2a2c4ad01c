import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { bytesText, countingWords, portWords, SILENT } from '../../../../application/words.js';
import type { EndpointReport, PortReport, TrafficReport } from '../../../../domain/traffic.js';
import { Grid, type Column } from '../grid.js';
import { Mark, Panel, Problem } from '../parts.js';
import { useLines } from '../requests.js';
import { queryOf } from '../routing.js';
import { counted } from '../text.js';
import { addressOf, newestFirst, type Arrivals } from './endpoints.js';

const MOST_ROWS = 12;

/** The connections of a Service, second by second. The proxy counts them only while the page shows them. */
export function TrafficPanel(props: { readonly service: string; readonly arrivals: Arrivals }): JSX.Element {
  const { service, arrivals } = props;
  const { value, at, problem } = useLines<TrafficReport>(`debug/traffic${queryOf({ service })}`);
  const facts = value ? countingWords(value) : [];
  return (
    <Panel id="traffic" title="Traffic" at={at}>
      <Problem problem={problem} what="traffic" />
      {!value && !problem && <p class="absent">Counting…</p>}
      {facts.length > 0 && <p class="quiet">{facts.join('; ')}.</p>}
      {value?.services.map((port) => (
        <PortTraffic
          key={`${port.family} ${port.portName} ${port.protocol}`}
          port={port}
          countsBytes={value.bytesCounted}
          arrivals={arrivals}
        />
      ))}
    </Panel>
  );
}

/** The numbers of a service port and of its endpoints; those without connections are folded. */
function PortTraffic(props: {
  readonly port: PortReport;
  readonly countsBytes: boolean;
  readonly arrivals: Arrivals;
}): JSX.Element {
  const { port, countsBytes, arrivals } = props;
  const name = `${portWords(port)}, ${port.family}`;
  const endpoints = newestFirst(port.endpoints, arrivals);
  const idle = endpoints.filter(isIdle);
  const columns = useMemo(() => columnsOf(countsBytes), [countsBytes]);
  const grid = { kind: 'traffic', columns, most: MOST_ROWS, keyOf: nameOf };
  const id = name.replace(/\W+/g, '-');
  return (
    <>
      <h3>{name}</h3>
      <Grid
        {...grid}
        name={`traffic-${id}`}
        label={`Connections of ${name}`}
        rows={[port, ...endpoints.filter((endpoint) => !isIdle(endpoint))]}
      />
      {idle.length > 0 && (
        <details>
          <summary>{counted(idle.length, 'endpoint')} without connections</summary>
          <Grid {...grid} name={`quiet-${id}`} label={`Without connections, ${name}`} rows={idle} />
        </details>
      )}
    </>
  );
}

/** Without connections. Of thousands of endpoints, most are idle at any time. */
export function isIdle({
  openConnections,
  newConnectionsPerSecond,
  unansweredConnections,
  unresponsive,
}: EndpointReport): boolean {
  return !unresponsive && openConnections + newConnectionsPerSecond + unansweredConnections === 0;
}

/** A service port, for its sums, or one of its endpoints. */
type Numbers = PortReport | EndpointReport;

function columnsOf(countsBytes: boolean): readonly Column<Numbers>[] {
  return [
    {
      name: 'address',
      title: 'Endpoint',
      text: (numbers) => `${nameOf(numbers)}${isSilent(numbers) ? `: ${SILENT}` : ''}`,
      cell: nameCell,
    },
    column('Open', ({ openConnections }) => openConnections.toLocaleString('en')),
    column('New/s', ({ newConnectionsPerSecond }) =>
      newConnectionsPerSecond.toLocaleString('en', { maximumFractionDigits: 1 }),
    ),
    {
      ...column('Unanswered', ({ unansweredConnections }) => unansweredConnections.toLocaleString('en')),
      cell: ({ unansweredConnections }) => (
        <b class={unansweredConnections > 0 ? 'bad' : 'none'}>{unansweredConnections.toLocaleString('en')}</b>
      ),
    },
    ...(countsBytes ? [column('Bytes/s', ({ bytesPerSecond }) => bytesText(bytesPerSecond ?? 0))] : []),
  ];
}

function column(title: string, text: (numbers: Numbers) => string): Column<Numbers> {
  return { name: 'number', title, text };
}

function nameOf(numbers: Numbers): string {
  return 'address' in numbers ? addressOf(numbers) : 'all';
}

function nameCell(numbers: Numbers): ComponentChildren {
  return (
    <>
      <code>{nameOf(numbers)}</code>
      {isSilent(numbers) && (
        <span class="bad">
          {' '}
          <Mark kind="bad" /> {SILENT}
        </span>
      )}
    </>
  );
}

function isSilent(numbers: Numbers): boolean {
  return 'unresponsive' in numbers && numbers.unresponsive;
}
