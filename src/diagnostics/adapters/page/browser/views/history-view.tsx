import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ChangeEntry, History } from '../../../../../application/status/change-entry.js';
import { changeWords, resultWords } from '../../../../application/words.js';
import { Age, PortLink, Problem, State, Table, type Column, type MarkKind } from '../parts.js';
import { usePolled } from '../requests.js';
import { replaceRoute, type HistoryRoute } from '../routing.js';
import { clockTime, counted, durationText, hasWords } from '../text.js';

/** All changes that the proxy remembers, with a filter. */
export function HistoryView({ route }: { readonly route: HistoryRoute }): JSX.Element {
  const { filter = '', problems = false, rows: shown = 0 } = route;
  const polled = usePolled<History>('debug/history');
  const { value, time } = polled;
  const rows = useMemo(
    () => value && filterChanges(value.changes, filter, problems),
    [value, filter, problems],
  );
  return (
    <>
      <div class="bar">
        <h1>History</h1>
        <label class="filter">
          <span>Filter</span>
          <input
            type="search"
            value={filter}
            placeholder="service, endpoint, result"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => replaceRoute({ ...route, filter: currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={problems}
            onChange={({ currentTarget }) => replaceRoute({ ...route, problems: currentTarget.checked })}
          />
          Problems only
        </label>
        <output class="count">
          <Age time={time} /> {rows && value && countText(rows.length, value)}
        </output>
      </div>
      <Problem polled={polled} what="history" />
      {rows && rows.length > 0 && (
        <div class="panel">
          <ChangeTable
            label="Changes"
            changes={rows}
            shown={shown}
            onMore={(more) => replaceRoute({ ...route, rows: more })}
          />
        </div>
      )}
      {rows?.length === 0 && <p class="quiet">The proxy remembers no such change.</p>}
    </>
  );
}

/** Changes, the newest first. @param props.changes the oldest first */
export function ChangeTable(props: {
  readonly label: string;
  readonly changes: readonly ChangeEntry[];
  readonly shown?: number;
  readonly onMore?: (rows: number) => void;
}): JSX.Element {
  const { changes, ...others } = props;
  return <Table {...others} columns={COLUMNS} rows={changes.toReversed()} keyOf={keyOf} />;
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
