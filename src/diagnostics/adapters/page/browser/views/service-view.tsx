import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { History } from '../../../../../application/status/change-entry.js';
import type {
  EndpointExplanation,
  Explanation,
  FamilyExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../application/explain/explanation.js';
import type { ServiceRow } from '../../../../application/status/service-row.js';
import {
  acceptedSourcesText,
  healthCheckWords,
  outcomeWords,
  portStatusText,
  portWords,
} from '../../../../application/words.js';
import { Grid, Table, type Column } from '../grid.js';
import { Mark, markOf, Panel, Problem } from '../parts.js';
import { useChanges, usePolled } from '../requests.js';
import { hrefOf, queryOf } from '../routing.js';
import { clockTime, counted, durationText } from '../text.js';
import { addressOf, endpointText, lastArrivals, newestFirst, type Arrivals } from './endpoints.js';
import { changeColumns } from './history-view.js';
import { PortDrawing } from './port-drawing.js';
import { TrafficPanel } from './traffic-panel.js';

const PERIOD = 5_000;
const RECENT = 3;
const MOST_ROWS = 12;
const CHANGE_COLUMNS = changeColumns(0);

/** One Service: its rules and the reasons for them, its traffic, and its last changes. */
export function ServiceView({ namespace, name }: Pick<ServiceRow, 'namespace' | 'name'>): JSX.Element {
  const options = { period: PERIOD, when: useChanges() };
  const service = `${namespace}/${name}`;
  const isServed = useRef(true);
  // For a Service that it does not serve, the proxy sends a request to the API server, so not after each change.
  const { value, at, problem } = usePolled<Explanation>(
    `debug/explain${queryOf({ subject: service })}`,
    isServed.current ? options : { period: PERIOD },
  );
  isServed.current = value?.known ?? true;
  const history = usePolled<History>(`debug/history${queryOf({ service })}`, options);
  const changes = history.value?.changes;
  const arrivals = useMemo(() => lastArrivals(changes ?? []), [changes]);
  return (
    <>
      <p class="back">
        <a href={hrefOf({ view: 'services' })}>All services</a>
      </p>
      <h1>
        <span class="namespace">{namespace}/</span>
        {name}
      </h1>
      <Problem problem={problem} what="explanation" />
      {value && <Verdicts explanation={value} />}
      <Panel id="history" title="What changed" at={history.at}>
        <Problem problem={history.problem} what="history" />
        {changes && <LastChanges service={service} changes={changes} />}
      </Panel>
      {value && <Families explanation={value} at={at} arrivals={arrivals} />}
      <TrafficPanel service={service} arrivals={arrivals} />
    </>
  );
}

/** Why the Service is not served, and the problems of its objects. */
function Verdicts({ explanation }: { readonly explanation: Explanation }): JSX.Element {
  const { verdict, objects } = explanation;
  const mark = markOf(verdict.state);
  return (
    <>
      <p class={`verdict ${mark}`}>
        <Mark kind={mark} /> {verdict.state}: {verdict.reason}
      </p>
      {verdict.nextStep !== undefined && <p class="quiet">Next: {verdict.nextStep}</p>}
      {objects
        .filter(({ reason }) => reason !== verdict.reason)
        .map(({ state, reason }) => (
          <p key={reason} class={`verdict small ${markOf(state)}`}>
            <Mark kind={markOf(state)} /> {reason}
          </p>
        ))}
    </>
  );
}

function LastChanges(props: { readonly service: string } & Pick<History, 'changes'>): JSX.Element {
  const { service, changes } = props;
  if (changes.length === 0) return <p class="absent">The proxy remembers no change since its start.</p>;
  return (
    <>
      <Table columns={CHANGE_COLUMNS} rows={changes.slice(-RECENT).reverse()} />
      {changes.length > RECENT && (
        <p>
          <a href={hrefOf({ view: 'history', search: `${service} ` })}>
            All {counted(changes.length, 'change')} that are remembered
          </a>
        </p>
      )}
    </>
  );
}

interface FamiliesProps extends Omit<PortProps, 'family' | 'port'> {
  readonly explanation: Explanation;
}

function Families({ explanation: { known, families }, ...more }: FamiliesProps): JSX.Element {
  return (
    <>
      {families.flatMap(({ family, ports, absence, healthCheck }) => [
        ...ports.map((port) => (
          <PortPanel
            key={`${family} ${port.portName} ${port.protocol}`}
            family={family}
            port={port}
            {...more}
          />
        )),
        known && absence && <p key={family} class="quiet">{`${family}: ${absence.reason}`}</p>,
        healthCheck && <p key={`${family} check`}>{`${family}: ${healthCheckWords(healthCheck)}`}</p>,
      ])}
    </>
  );
}

interface PortProps {
  readonly family: FamilyExplanation['family'];
  readonly port: PortExplanation;
  /** When the explanation arrived, in milliseconds since the epoch. */
  readonly at: number | undefined;
  readonly arrivals: Arrivals;
}

/** One service port: its state and why, its drawing, and the same as a list. */
function PortPanel({ family, port, at, arrivals }: PortProps): JSX.Element {
  const { status, frontends, affinitySeconds, sourceRanges, verdicts, protocol } = port;
  const endpoints = newestFirst(port.endpoints, arrivals);
  const columns = useMemo(() => endpointColumns(arrivals), [arrivals]);
  const name = `${portWords(port)}, ${family}`;
  const mark = markOf(status.state);
  return (
    <Panel title={name} at={at}>
      <p class={`verdict small ${mark}`}>
        <Mark kind={mark} /> {portStatusText(status, clockTime)}
      </p>
      <ul class="lines">
        {verdicts.map(({ state, reason }) => (
          <li key={reason} class={state === 'ok' ? '' : markOf(state)}>
            {state !== 'ok' && <Mark kind={markOf(state)} />} {reason}
          </li>
        ))}
        {affinitySeconds > 0 && (
          <li>clients stay with their endpoint for {durationText(affinitySeconds * 1_000)}</li>
        )}
        {sourceRanges.length > 0 && <li>{acceptedSourcesText(sourceRanges)}</li>}
      </ul>
      <PortDrawing
        port={{ ...port, endpoints }}
        arrivals={arrivals}
        label={`Drawing of port ${name}: ${frontends.length} frontends, ${endpoints.length} endpoints. The list below it has the same content.`}
      />
      <details>
        <summary>As a list</summary>
        <h3>Frontends</h3>
        <ul class="lines">
          {frontends.map((frontend) => (
            <FrontendItem key={addressOf(frontend)} frontend={frontend} protocol={protocol} />
          ))}
        </ul>
        <h3>Endpoints</h3>
        {endpoints.length === 0 && <p>none</p>}
        {endpoints.length > 0 && (
          <Grid
            name={`endpoints ${name}`.replace(/\W+/g, '-')}
            kind="endpoints"
            label="Endpoints"
            rows={endpoints}
            columns={columns}
            keyOf={addressOf}
            most={MOST_ROWS}
          />
        )}
      </details>
    </Panel>
  );
}

function FrontendItem(props: {
  readonly frontend: FrontendExplanation;
  readonly protocol: string;
}): JSX.Element {
  const { frontend, protocol } = props;
  const to = `${addressOf(frontend)}/${protocol.toLowerCase()}`;
  return (
    <li>
      <code>{addressOf(frontend)}</code> {frontend.kind} ({frontend.policy}): {outcomeWords(frontend)}{' '}
      {frontend.address !== undefined && (
        <a href={hrefOf({ view: 'trace', from: 'node', to })} aria-label={`Trace to ${to}`}>
          trace
        </a>
      )}
    </li>
  );
}

function endpointColumns(arrivals: Arrivals): readonly Column<EndpointExplanation>[] {
  return [
    { name: 'address', title: 'Endpoint', text: addressOf },
    {
      name: 'words',
      title: 'State',
      text: (endpoint) => endpointText(endpoint, arrivals),
      cell: (endpoint) => (
        <>
          <Mark kind={endpoint.used ? 'good' : 'off'} /> {endpointText(endpoint, arrivals)}
        </>
      ),
    },
  ];
}
