import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ChangeEntry, History } from '../../../../../application/status/change-entry.js';
import { changeWords, resultWords } from '../../../../application/words.js';
import {
  Field,
  ListHead,
  Panel,
  PortLink,
  Problem,
  State,
  Table,
  type Column,
  type MarkKind,
} from '../parts.js';
import { usePolled, type Polled } from '../requests.js';
import { hrefOf, replaceRoute, type HistoryRoute } from '../routing.js';
import { clockTime, counted, durationText, hasWords } from '../text.js';

/** All changes that the proxy remembers, with a filter. */
export function HistoryView({ route }: { readonly route: HistoryRoute }): JSX.Element {
  const { filter = '', problems = false } = route;
  const polled = usePolled<History>('debug/history');
  const { value, time } = polled;
  const rows = useMemo(
    () => value && filterChanges(value.changes, filter, problems),
    [value, filter, problems],
  );
  return (
    <>
      <ListHead
        title="History"
        route={route}
        time={time}
        count={rows && value && countText(rows.length, value)}
      >
        <Field
          label="Filter"
          type="search"
          value={filter}
          placeholder="service, endpoint, result"
          onText={(text) => replaceRoute({ ...route, filter: text })}
        />
      </ListHead>
      <Problem polled={polled} what="history" />
      {rows && rows.length > 0 && (
        <div class="panel">
          <Table {...CHANGES} label="Changes" rows={rows.toReversed()} route={route} />
        </div>
      )}
      {rows?.length === 0 && <p class="quiet">The proxy remembers no such change.</p>}
    </>
  );
}

/** The last changes, of a Service or of all, with a link to the others that are remembered. */
export function LastChanges(props: {
  readonly history: Polled<History>;
  readonly most: number;
  readonly service?: string;
}): JSX.Element {
  const { history, most, service } = props;
  const { changes = [] } = history.value ?? {};
  return (
    <Panel id="recent" title="Last changes" time={history.time}>
      <Problem polled={history} what="history" />
      {changes.length > 0 && (
        <Table {...CHANGES} label="Last changes" rows={changes.slice(-most).toReversed()} />
      )}
      {history.value && changes.length === 0 && (
        <p class="quiet">The proxy remembers no change since its start.</p>
      )}
      {changes.length > most && (
        <p>
          <a href={hrefOf({ view: 'history', filter: service === undefined ? '' : `${service}/` })}>
            All {counted(changes.length, 'change')} that are remembered
          </a>
        </p>
      )}
    </Panel>
  );
}

function keyOf(change: ChangeEntry): string {
  return `${change.time} ${change.family} ${change.kind === 'service-port' ? change.servicePort : change.kind}`;
}

/** When a change was programmed, the result, the time from its event, and the change itself. */
const COLUMNS: readonly Column<ChangeEntry>[] = [
  { name: 'time', title: 'Time', cell: ({ time }) => clockTime(time) },
  {
    name: 'state',
    title: 'Result',
    cell: (change) => <State kind={markOf(change)}>{resultWords(change)}</State>,
  },
  {
    name: 'name',
    title: 'Service port',
    cell: (change) => (
      <>
        {change.kind === 'service-port' ? <PortLink port={change.servicePort} /> : 'all of'}{' '}
        <span class="quiet">{change.family}</span>
      </>
    ),
  },
  {
    name: 'number',
    title: 'Duration',
    cell: ({ durationSeconds }) =>
      durationSeconds === undefined ? '' : durationText(durationSeconds * 1_000),
  },
  { name: 'words', title: 'Change', cell: changeText },
];

const CHANGES = { columns: COLUMNS, keyOf };

const MARKS: Readonly<Record<string, MarkKind>> = {
  programmed: 'ok',
  'everything-programmed': 'ok',
  removed: 'off',
  degraded: 'warning',
  repaired: 'warning',
};

/** The state that a change has led to; an error if it is unknown. */
export function markOf(change: ChangeEntry): MarkKind {
  return MARKS[change.kind === 'service-port' ? change.result : change.kind] ?? 'error';
}

/** What a change changed, or why it failed, in one line. */
export function changeText(change: ChangeEntry): string {
  return changeWords(change) || counted(change.writtenSteps, 'step');
}

/** The changes in which every word of the filter occurs. */
export function filterChanges(
  changes: readonly ChangeEntry[],
  filter: string,
  problems: boolean,
): readonly ChangeEntry[] {
  return changes.filter((change) => {
    if (problems && ['ok', 'off'].includes(markOf(change))) return false;
    const subject = change.kind === 'service-port' ? change.servicePort : '';
    return hasWords(`${subject} ${change.family} ${resultWords(change)} ${changeText(change)}`, filter);
  });
}

/** Of the changes since the start, the proxy remembers the last thousand. */
function countText(shown: number, { changes, total }: History): string {
  const remembered = counted(changes.length, 'change');
  const older = total > changes.length ? ` remembered, ${total.toLocaleString('en')} since the start` : '';
  return `${shown === changes.length ? '' : `${shown.toLocaleString('en')} of `}${remembered}${older}`;
}
