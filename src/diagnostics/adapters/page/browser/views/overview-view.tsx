import type { ComponentChildren, JSX } from 'preact';
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
import { ChangeTable } from './history-view.js';

const RECENT = 10;
const MINUTE = 60_000;

/** The health of the proxy on this node, and the Services with problems. */
export function OverviewView({ status }: { readonly status: Polled<ProxyStatus> }): JSX.Element {
  const history = usePolled<History>('debug/history');
  const { value } = status;
  return (
    <>
      <h1 class="unseen">Overview</h1>
      <Panel id="node" title="Node" time={status.time}>
        <Problem polled={status} what="status" />
        {value && <Node status={value} />}
        {history.value && value && <Activity history={history.value} now={Date.parse(value.time)} />}
      </Panel>
      {value && isEmpty(value) && <EmptyCluster />}
      <Panel id="problems" title="Services with problems" time={status.time}>
        {value && <Problems {...value} />}
        <Unanswered />
      </Panel>
      {value && <Reports status={value} />}
      {history.value && (
        <Panel id="recent" title="Last changes" time={history.time}>
          <ChangeTable label="Last changes" changes={history.value.changes.slice(-RECENT)} />
          <p>
            <a href={hrefOf({ view: 'history' })}>All changes that are remembered</a>
          </p>
        </Panel>
      )}
    </>
  );
}

function isEmpty({ inSync, serviceCounts: { ok, warning, error } }: ProxyStatus): boolean {
  return inSync && ok + warning + error === 0;
}

const MARKS: Readonly<Record<ProxyStatus['state'], MarkKind>> = {
  ok: 'ok',
  degraded: 'warning',
  'not-serving': 'error',
};

function Node({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { state, reasons, inSync, lagSeconds, pendingReasons, families, versions, startTime, time, watches } =
    status;
  const used = families.filter(
    ({ inSync, programmed, degraded, failed }) => !inSync || programmed + degraded.length + failed.length > 0,
  );
  return (
    <>
      <p class="verdict">
        {status.node} is <State kind={MARKS[state]}>{proxyWord(state)}</State>
        <span class="quiet">
          {inSync
            ? ', in sync'
            : `, changes wait${lagSeconds > 0 ? ` for ${durationText(lagSeconds * 1_000)}` : ''}`}
        </span>
      </p>
      <Lines lines={[...reasons, ...pendingReasons.filter((line) => !reasons.includes(line))]} />
      <dl class="facts">
        <Fact name="Mode">{status.mode}</Fact>
        <Fact name="Versions">
          {versions.program}, for Kubernetes {versions.kubernetes}, kernel {versions.kernel}
        </Fact>
        <Fact name="Running since">
          {clockTime(startTime)} ({durationText(Date.parse(time) - Date.parse(startTime))})
        </Fact>
        {used.map((family) => (
          <Fact key={family.family} name={family.family}>
            {familyWords(family, clockTime, counted)}
          </Fact>
        ))}
        {watches
          .filter(({ connected }) => !connected)
          .map((watch) => (
            <Fact key={watch.kind} name={`Watch of ${watch.kind}`}>
              {watchWords(watch, counted)}
            </Fact>
          ))}
      </dl>
    </>
  );
}

function Fact(props: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
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
  const errors = lastErrors.map(({ time, message }) => `${clockTime(time)}  ${message}`);
  return (
    <>
      {[
        { title: 'Warnings', lines: warnings },
        { title: `Ignored objects (${ignored.length})`, lines: ignored },
        { title: 'Last errors', lines: errors },
      ].map(
        ({ title, lines }) =>
          lines.length > 0 && (
            <Panel key={title} title={title}>
              <Lines lines={lines} />
            </Panel>
          ),
      )}
    </>
  );
}
