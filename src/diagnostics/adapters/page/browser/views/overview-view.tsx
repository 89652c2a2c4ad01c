import type { ComponentChildren, JSX } from 'preact';
import type { History } from '../../../../../application/status/change-entry.js';
import type { ProxyStatus } from '../../../../application/status/proxy-status.js';
import { familyWords, proxyWord, watchWords } from '../../../../application/words.js';
import { Table, type Column } from '../grid.js';
import {
  EmptyCluster,
  Lines,
  Mark,
  MOST,
  moreThanShown,
  Panel,
  PortLink,
  Problem,
  type MarkKind,
} from '../parts.js';
import { useChanges, usePolled, type Polled } from '../requests.js';
import { hrefOf } from '../routing.js';
import { clockTime, counted, durationText } from '../text.js';
import { changeColumns } from './history-view.js';
import { Latency } from './latency.js';

const RECENT = 20;
const PERIOD = 10_000;
const CHANGE_COLUMNS = changeColumns(0);

/** The health of the proxy on this node, the latency of its changes, and failures. */
export function OverviewView({ status }: { readonly status: Polled<ProxyStatus> }): JSX.Element {
  const options = { period: PERIOD, when: useChanges() };
  const history = usePolled<History>('debug/history', options);
  return (
    <>
      <h1 class="unseen">Overview</h1>
      <Panel id="health" title="Health" at={status.at}>
        <Problem problem={status.problem} what="status" />
        {status.value && <Health status={status.value} />}
        {status.value && <Counts {...status.value.services} />}
      </Panel>
      {status.value && isEmpty(status.value) && <EmptyCluster />}
      {status.value && <Failures status={status.value} />}
      <Panel id="latency" title="From a change to the kernel" at={history.at}>
        <Problem problem={history.problem} what="history" />
        {history.value && <Latency {...history.value} now={status.value?.time} />}
      </Panel>
      {history.value && (
        <Panel id="recent" title="Last changes" at={history.at}>
          <Table columns={CHANGE_COLUMNS} rows={history.value.changes.slice(-RECENT).reverse()} />
          <p>
            <a href={hrefOf({ view: 'history' })}>All changes that are remembered</a>
          </p>
        </Panel>
      )}
    </>
  );
}

/** Everything is known and programmed, and there is nothing. */
function isEmpty({ inSync, families }: ProxyStatus): boolean {
  return inSync && families.every(({ programmed, failed }) => programmed + failed.length === 0);
}

const MARKS: Readonly<Record<ProxyStatus['state'], MarkKind>> = {
  ok: 'good',
  degraded: 'waiting',
  'not-serving': 'bad',
};

function Health({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { state, reasons, inSync, lagSeconds, pendingReasons, families, versions, startTime, time } = status;
  const mark = MARKS[state];
  return (
    <>
      <p class={`verdict ${mark}`} role="status">
        <Mark kind={mark} /> {proxyWord(state)}
        <span class="quiet">
          {inSync
            ? ', in sync'
            : `, changes wait${lagSeconds > 0 ? ` for ${durationText(lagSeconds * 1_000)}` : ''}`}
        </span>
      </p>
      <Lines lines={[...reasons, ...pendingReasons.filter((line) => !reasons.includes(line))]} />
      <dl class="facts">
        <Fact name="Node">{status.node}</Fact>
        <Fact name="Mode">{status.mode}</Fact>
        <Fact name="Running since">
          {clockTime(startTime)} ({durationText(Date.parse(time) - Date.parse(startTime))})
        </Fact>
        <Fact name="Versions">
          {versions.program}, for Kubernetes {versions.kubernetes}, Node.js {versions.nodejs}, kernel{' '}
          {versions.kernel}
        </Fact>
        {families.map((family) => (
          <Fact key={family.family} name={family.family}>
            {familyWords(family, clockTime, counted)}
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

/** How many Services are in each state, with a link to those that are not ok. */
function Counts({ ok, warning, error }: ProxyStatus['services']): JSX.Element {
  const mark = error > 0 ? 'bad' : warning > 0 ? 'waiting' : 'good';
  return (
    <p id="counts">
      <Mark kind={mark} />{' '}
      <a href={hrefOf({ view: 'services', ...(mark !== 'good' && { show: 'problems' }) })}>
        Services: {ok} ok, {warning} warning, {error} error
      </a>
    </p>
  );
}

/** Failures, warnings, ignored objects and watches. Empty parts are left out. */
function Failures({ status }: { readonly status: ProxyStatus }): JSX.Element {
  const { warnings = [], ignored, watches, lastErrors } = status;
  return (
    <>
      <FailingPorts title="Failed" ports={portsIn(status, 'failed')} />
      <FailingPorts title="Degraded" ports={portsIn(status, 'degraded')} />
      <LinesPanel title="Warnings" lines={warnings} />
      <LinesPanel title={`Ignored objects (${ignored.length})`} lines={ignored} />
      {watches.length > 0 && (
        <Panel title="Watches">
          <ul class="lines">
            {watches.map((watch) => (
              <li key={watch.kind}>
                <Mark kind={watch.connected ? 'good' : 'bad'} /> {watch.kind}: {watchWords(watch, counted)}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <LinesPanel
        title="Last errors"
        lines={lastErrors.map(({ time, message }) => `${clockTime(time)}  ${message}`)}
      />
    </>
  );
}

function LinesPanel(props: {
  readonly title: string;
  readonly lines: readonly string[];
}): JSX.Element | null {
  if (props.lines.length === 0) return null;
  return (
    <Panel title={props.title}>
      <Lines lines={props.lines} />
    </Panel>
  );
}

type FailingPort = ReturnType<typeof portsIn>[number];

function portsIn({ families }: ProxyStatus, state: 'failed' | 'degraded') {
  return families.flatMap(({ family, [state]: ports }) => ports.map((port) => ({ family, ...port })));
}

const PORT_COLUMNS: readonly Column<FailingPort>[] = [
  {
    name: 'port',
    title: 'Service port',
    text: ({ servicePort }) => servicePort,
    cell: ({ family, servicePort }) => (
      <>
        <PortLink port={servicePort} /> <span class="quiet">{family}</span>
      </>
    ),
  },
  { name: 'since', title: 'Since', text: ({ sinceTime }) => clockTime(sinceTime) },
  { name: 'words', title: 'Why', text: ({ reason }) => reason },
];

function FailingPorts(props: {
  readonly title: string;
  readonly ports: readonly FailingPort[];
}): JSX.Element | null {
  const { title, ports } = props;
  if (ports.length === 0) return null;
  return (
    <Panel title={`${title} service ports (${ports.length})`}>
      <Table columns={PORT_COLUMNS} rows={ports.slice(0, MOST)} />
      {ports.length > MOST && (
        <p>
          {moreThanShown(ports.length)}:{' '}
          <a href={hrefOf({ view: 'services', show: 'problems' })}>services that fail</a>
        </p>
      )}
    </Panel>
  );
}
