import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { countingWords, portWords } from '../../../../../application/words.js';
import type { PortReport, TrafficReport } from '../../../../../domain/traffic.js';
import { trafficOf } from '../../asking/routes.js';
import { useLines } from '../../asking/use-lines.js';
import { Grid } from '../../parts/grid/grid.js';
import { Panel } from '../../parts/panel.js';
import { counted } from '../../parts/time.js';
import { Trouble } from '../../parts/trouble.js';
import type { Arrivals } from './endpoint-order.js';
import { divided } from './quiet-endpoints.js';
import { columnsOf, nameOf } from './traffic-columns.js';

const MOST_ROWS = 12;

interface TrafficProps {
  readonly service: string;
  readonly arrivals: Arrivals;
}

/** The connections of a Service, second by second. The proxy counts them only while somebody looks. */
export function TrafficPanel({ service, arrivals }: TrafficProps): JSX.Element {
  const { value, at, problem } = useLines<TrafficReport>(trafficOf(service));
  return (
    <Panel id="traffic" title="Traffic" at={at}>
      <Trouble problem={problem} what="traffic" />
      {!value && !problem && <p class="absent">Counting…</p>}
      {value && <Facts report={value} />}
      {value?.services.map((port) => (
        <PortTraffic
          key={`${port.family} ${port.port} ${port.protocol}`}
          port={port}
          countsBytes={value.countsBytes}
          arrivals={arrivals}
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

interface PortTrafficProps extends Pick<TrafficProps, 'arrivals'> {
  readonly port: PortReport;
  readonly countsBytes: boolean;
}

/** The numbers of a service port and of its endpoints; those without connections are folded. */
function PortTraffic({ port, countsBytes, arrivals }: PortTrafficProps): JSX.Element {
  const name = `${portWords(port)}, ${port.family}`;
  const { busy, quiet } = divided(port.endpoints, arrivals);
  const columns = useMemo(() => columnsOf(countsBytes), [countsBytes]);
  const grid = { kind: 'traffic', columns, most: MOST_ROWS, keyOf: nameOf };
  const id = name.replace(/\W+/g, '-');
  return (
    <>
      <h3>{name}</h3>
      <Grid {...grid} name={`traffic-${id}`} label={`Connections of ${name}`} rows={[port, ...busy]} />
      {quiet.length > 0 && (
        <details>
          <summary>{counted(quiet.length, 'endpoint')} without connections</summary>
          <Grid {...grid} name={`quiet-${id}`} label={`Without connections, ${name}`} rows={quiet} />
        </details>
      )}
    </>
  );
}
