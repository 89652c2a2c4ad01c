import type { JSX } from 'preact';
import type { ChangeEntry, History } from '../../../../../application/status/change-entry.js';
import type { ProxyStatus } from '../../../../application/status/proxy-status.js';
import { familyWords, proxyWord, watchWords } from '../../../../application/words.js';
import type { TrafficReport } from '../../../../domain/traffic.js';
import {
  EmptyCluster,
  Lines,
  Panel,
  Problem,
  ServiceLink,
  State,
  VerdictText,
  type MarkKind,
} from '../parts.js';
import { useLines, usePolled, type Polled } from '../requests.js';
import { hrefOf, queryOf } from '../routing.js';
import { clockTime, counted, durationText } from '../text.js';
import { LastChanges } from './history-view.js';

const MINUTE = 60_000;

/** The health of the proxy on this node, and the Services with problems. */
export function OverviewView({ status }: { readonly status: Polled<ProxyStatus> }): JSX.Element {
  const history = usePolled<History>('debug/history');
  const { value } = status;
  const { ok = 0, warning = 0, error = 0 } = value?.serviceCounts ?? {};
  return (
    <>
      <h1>Overview</h1>
      <Panel id="node" title="Node" time={status.time}>
        <Problem polled={status} what="status" />
        {value && <Node status={value} />}
        {history.value && value && <Activity history={history.value} now={Date.parse(value.time)} />}
      </Panel>
      {value?.inSync && ok + warning + error === 0 && <EmptyCluster />}
      <Panel id="problems" title="Services with problems" time={status.time}>
        {value && <Problems {...value} />}
        <Unanswered />
      </Panel>
      {value && <Reports status={value} />}
      <LastChanges history={history} most={10} />
    </>
  );
}

const MARKS: Readonly<Record<ProxyStatus['state'], MarkKind>> = {
  ok: 'ok',
  degraded: 'warning',
  'not-serving': 'error',
};

function Node({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { node, state, reasons, inSync, lagSeconds, pendingReasons, versions, startTime } = status;
  const { program, kubernetes, kernel } = versions;
  const families = status.families.filter(
    ({ inSync: isInSync, programmed, degraded, failed }) =>
      !isInSync || programmed + degraded.length + failed.length > 0,
  );
  const watches = status.watches.filter(({ connected }) => !connected);
  const runs = durationText(Date.parse(status.time) - Date.parse(startTime));
  const facts: readonly (readonly [name: string, text: string])[] = [
    ['Mode', status.mode],
    ['Versions', `${program}, for Kubernetes ${kubernetes}, kernel ${kernel}`],
    ['Running since', `${clockTime(startTime)} (${runs})`],
    ...families.map((family) => [family.family, familyWords(family, clockTime, counted)] as const),
    ...watches.map((watch) => [`Watch of ${watch.kind}`, watchWords(watch, counted)] as const),
  ];
  return (
    <>
      <p class="verdict">
        {node} is <State kind={MARKS[state]}>{proxyWord(state)}</State>
        <span class="quiet">
          {inSync ? ', in sync' : ', changes wait'}
          {!inSync && lagSeconds > 0 && ` for ${durationText(lagSeconds * 1_000)}`}
        </span>
      </p>
      <Lines lines={[...reasons, ...pendingReasons.filter((line) => !reasons.includes(line))]} />
      <dl class="facts">
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Changes per minute, and how long they take from their event to the kernel. @param now by the clock of the proxy */
function Activity(props: { readonly history: History; readonly now: number }): JSX.Element {
  const { changes } = props.history;
  const { median, percentile99 } = latencies(changes);
  return (
    <p id="activity">
      <b>{changesPerMinute(changes, props.now).toLocaleString('en')}</b> changes per minute
      {median !== undefined && percentile99 !== undefined && (
        <>
          ; programming latency p50 <b>{durationText(median)}</b>, p99 <b>{durationText(percentile99)}</b>
        </>
      )}
    </p>
  );
}

/** Of a full history that is shorter than a minute, it is extrapolated. @param changes the oldest first */
export function changesPerMinute(changes: readonly Pick<ChangeEntry, 'time'>[], now: number): number {
  const recent = changes.filter(({ time }) => now - Date.parse(time) <= MINUTE).length;
  const isAll = recent === changes.length && recent >= 1_000;
  return isAll ? Math.round((recent * MINUTE) / Math.max(1, now - Date.parse(changes[0]!.time))) : recent;
}

/** From the first event to the kernel, in milliseconds; undefined without changes that reached the kernel. */
export function latencies(changes: readonly ChangeEntry[]): {
  readonly median: number | undefined;
  readonly percentile99: number | undefined;
} {
  const sorted = changes
    .flatMap((change) =>
      change.kind === 'service-port' && change.result !== 'failed' ? change.durationSeconds * 1_000 : [],
    )
    .sort((one, other) => one - other);
  const at = (share: number): number | undefined => sorted[Math.ceil(share * sorted.length) - 1];
  return { median: at(0.5), percentile99: at(0.99) };
}

/** The worst first, as the proxy sorts them. */
function Problems({ serviceCounts, serviceProblems: problems }: ProxyStatus): JSX.Element {
  const total = serviceCounts.warning + serviceCounts.error;
  if (total === 0) return <State kind="ok">no Service has a problem</State>;
  return (
    <>
      <Lines
        lines={problems.map((problem) => (
          <>
            <ServiceLink service={problem.service} /> <VerdictText verdict={problem} />
          </>
        ))}
      />
      <p>
        <a href={hrefOf({ view: 'services', problems: true })}>
          {total > problems.length ? `All ${counted(total, 'Service')} with problems` : 'As a table'}
        </a>
      </p>
    </>
  );
}

/** The service ports with most connections that get no answer. The proxy counts them only while the page shows them. */
function Unanswered(): JSX.Element {
  const { value, problem } = useLines<TrafficReport>(
    `debug/traffic${queryOf({ sort: 'unanswered', limit: 5, interval: 2 })}`,
  );
  const ports = value?.services.filter((port) => port.unansweredConnections > 0) ?? [];
  return (
    <p id="unanswered">
      Unanswered connections:{' '}
      {problem ? `not counted, ${problem.message}` : !value ? 'counting…' : ports.length === 0 && 'none'}
      {ports.map(({ namespace, name, portName, unansweredConnections }, index) => (
        <span key={`${namespace}/${name}:${portName}`}>
          {index > 0 && ', '}
          <b class="error">{unansweredConnections.toLocaleString('en')}</b> to{' '}
          <ServiceLink service={`${namespace}/${name}`} />
        </span>
      ))}
    </p>
  );
}

/** Warnings, ignored objects and errors. Empty parts are left out. */
function Reports({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { warnings = [], ignored, lastErrors } = status;
  const reports = {
    Warnings: warnings,
    [`Ignored objects (${ignored.length})`]: ignored,
    'Last errors': lastErrors.map(({ time, message }) => `${clockTime(time)}  ${message}`),
  };
  const shown = Object.entries(reports).filter(([, lines]) => lines.length > 0);
  return (
    <>
      {shown.map(([title, lines]) => (
        <Panel key={title} title={title}>
          <Lines lines={lines} />
        </Panel>
      ))}
    </>
  );
}
