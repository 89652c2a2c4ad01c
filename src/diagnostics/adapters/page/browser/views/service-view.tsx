import type { JSX } from 'preact';
import type { History } from '../../../../../application/status/change-entry.js';
import type { Verdict } from '../../../../../domain/verdict/verdict.js';
import { hostPort } from '../../../../../domain/net/ip-family.js';
import type {
  EndpointExplanation,
  Explanation,
  FamilyExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../application/explain/explanation.js';
import {
  acceptedSourcesText,
  bytesText,
  conditionWords,
  countingWords,
  healthCheckWords,
  outcomeWords,
  portWords,
} from '../../../../application/words.js';
import type { EndpointReport, PortReport, TrafficReport } from '../../../../domain/traffic.js';
import { Lines, Panel, Problem, State, Table, VerdictText, type Column } from '../parts.js';
import { useLines, usePolled, type Polled } from '../requests.js';
import { hrefOf, queryOf, type ServiceRoute } from '../routing.js';
import { counted, durationText } from '../text.js';
import { LastChanges } from './history-view.js';

/** One Service: its verdict, its ports with frontends, endpoints and connections, and its last changes. */
export function ServiceView({ route }: { readonly route: ServiceRoute }): JSX.Element {
  const service = `${route.namespace}/${route.name}`;
  const polled = usePolled<Explanation>(`debug/explain${queryOf({ subject: service })}`);
  const { value, time } = polled;
  const history = usePolled<History>(`debug/history${queryOf({ service })}`);
  const traffic = useLines<TrafficReport>(`debug/traffic${queryOf({ service })}`);
  return (
    <>
      <h1>{service}</h1>
      <Problem polled={polled} what="explanation" />
      {value && (
        <section class="panel" aria-label="Verdict">
          <div class="verdict" role="status">
            <VerdictText verdict={value.verdict} />
          </div>
          <Lines lines={[...otherVerdicts(value), ...healthChecks(value)]} />
          <p>
            <a href={hrefOf({ view: 'trace', from: 'node', to: traceTarget(value) })}>
              Trace a connection to it
            </a>
          </p>
        </section>
      )}
      {value?.families.map(({ family, ports }) =>
        ports.map((port) => (
          <Port
            key={`${family} ${port.portName} ${port.protocol}`}
            {...{ route, family, port, time, traffic }}
            verdict={value.verdict}
          />
        )),
      )}
      <LastChanges history={history} most={3} service={service} />
    </>
  );
}

/** Of its objects and of families without ports, besides the verdict on the Service. */
function otherVerdicts({ verdict, objects, families }: Explanation): readonly JSX.Element[] {
  return [...objects, ...families.flatMap(({ absence }) => absence ?? [])]
    .filter(({ state, reason }) => state !== 'ok' && reason !== verdict.reason)
    .map((other) => <VerdictText verdict={other} />);
}

function healthChecks({ families }: Explanation): readonly string[] {
  return families.flatMap(({ family, healthCheck }) =>
    healthCheck ? `${family}: ${healthCheckWords(healthCheck)}` : [],
  );
}

/** With a port, where the Service has several. */
function traceTarget({ service, families }: Explanation): string {
  const ports = families.flatMap((family) => family.ports);
  const first = ports[0]?.portName;
  return first && ports.some(({ portName }) => portName !== first) ? `${service}:${first}` : service;
}

interface PortProps {
  readonly route: ServiceRoute;
  /** On the Service. */
  readonly verdict: Verdict;
  readonly family: FamilyExplanation['family'];
  readonly port: PortExplanation;
  /** When the explanation arrived, in milliseconds since the epoch. */
  readonly time: number | undefined;
  readonly traffic: Polled<TrafficReport>;
}

/** One service port: its verdicts, its frontends, and its endpoints with their connections. */
function Port({ route, verdict, family, port, time, traffic }: PortProps): JSX.Element {
  const { frontends, endpoints, affinitySeconds, sourceRanges, verdicts, balancing } = port;
  const counts = traffic.value?.services.find(
    (one) => one.family === family && one.portName === port.portName && one.protocol === port.protocol,
  );
  const isSame = verdicts.length === 1 && verdicts[0]!.reason === verdict.reason;
  const lines = [
    ...(isSame ? [] : verdicts).map((one) => <VerdictText verdict={one} />),
    affinitySeconds > 0 && `clients stay with their endpoint for ${durationText(affinitySeconds * 1_000)}`,
    sourceRanges.length > 0 && acceptedSourcesText(sourceRanges),
    balancing,
  ].filter(Boolean);
  return (
    <Panel title={`${portWords(port)}, ${family}`} time={time}>
      <Lines lines={lines} />
      <h3>{counted(frontends.length, 'frontend')}</h3>
      <Table label="Frontends" columns={frontendColumns(port)} rows={frontends} keyOf={addressOf} />
      <h3>{counted(endpoints.length, 'endpoint')}</h3>
      <Traffic traffic={traffic} counts={counts} />
      {endpoints.length > 0 && (
        <Table
          label="Endpoints"
          columns={endpointColumns(counts)}
          rows={endpoints}
          keyOf={addressOf}
          route={route}
        />
      )}
    </Panel>
  );
}

function frontendColumns({ protocol }: PortExplanation): readonly Column<FrontendExplanation>[] {
  return [
    {
      name: 'address',
      title: 'Frontend',
      cell(frontend) {
        const text = addressOf(frontend);
        if (frontend.address === undefined) return text;
        const to = `${text}/${protocol.toLowerCase()}`;
        return (
          <a href={hrefOf({ view: 'trace', from: 'node', to })} title="Trace a connection to it">
            {text}
          </a>
        );
      },
    },
    { name: 'type', title: 'Kind', cell: ({ kind }) => kind },
    { name: 'type', title: 'Policy', cell: ({ policy }) => policy },
    {
      name: 'words',
      title: 'Packets',
      cell: (frontend) => <State kind={frontend.state}>{outcomeWords(frontend)}</State>,
    },
  ];
}

/** `10.96.0.80:80`, `[fd00::1]:80`, or `*:30080` for a node port. */
function addressOf({ address, port }: Pick<FrontendExplanation, 'address' | 'port'>): string {
  return address === undefined ? `*:${port}` : hostPort(address, port);
}

/** All connections of the service port. */
function Traffic(props: {
  readonly traffic: Polled<TrafficReport>;
  readonly counts: PortReport | undefined;
}): JSX.Element {
  const { traffic, counts } = props;
  const { value, problem } = traffic;
  if (problem) return <p class="quiet">Connections are not counted: {problem.message}</p>;
  if (!value || !counts) return <p class="quiet">Connections: counting…</p>;
  const { openConnections, newConnectionsPerSecond, unansweredConnections, bytesPerSecond } = counts;
  // Bridge settings concern the whole node.
  const notes = countingWords({ ...value, bridgedHidden: false });
  return (
    <p class="traffic">
      Connections: <b>{openConnections.toLocaleString('en')}</b> open,{' '}
      <b>{newConnectionsPerSecond.toLocaleString('en')}</b> new/s,{' '}
      <b class={unansweredConnections > 0 ? 'error' : ''}>{unansweredConnections.toLocaleString('en')}</b>{' '}
      unanswered
      {bytesPerSecond !== undefined && `, ${bytesText(bytesPerSecond)}/s`}
      {notes.length > 0 && ` (${notes.join('; ')})`}
    </p>
  );
}

/** With the open and new connections of each, where they are counted. */
function endpointColumns(counts: PortReport | undefined): readonly Column<EndpointExplanation>[] {
  const reports = new Map(counts?.endpoints.map((one) => [addressOf(one), one]));
  const number = (title: string, of: (report: EndpointReport) => number): Column<EndpointExplanation> => ({
    name: 'number',
    title,
    cell(endpoint) {
      const report = reports.get(addressOf(endpoint));
      return report && of(report).toLocaleString('en');
    },
  });
  return [
    { name: 'address', title: 'Endpoint', cell: addressOf },
    { name: 'words', title: 'State', cell: endpointState },
    { name: 'node', title: 'Pod', cell: ({ pod }) => pod },
    { name: 'node', title: 'Node', cell: ({ nodeName }) => nodeName },
    { name: 'node', title: 'Zone', cell: ({ zone }) => zone },
    number('Open', ({ openConnections }) => openConnections),
    number('New/s', ({ newConnectionsPerSecond }) => newConnectionsPerSecond),
  ];
}

function endpointState(endpoint: EndpointExplanation): JSX.Element {
  const { unresponsive, ready, used } = endpoint;
  const kind = unresponsive ? 'error' : used ? 'ok' : ready ? 'off' : 'warning';
  return <State kind={kind}>{conditionWords(endpoint)}</State>;
}
