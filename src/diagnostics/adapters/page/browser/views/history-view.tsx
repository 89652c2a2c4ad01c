import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ChangeEntry, History } from '../../../../../application/status/change-entry.js';
import { changeWords, portWords, resultWords } from '../../../../application/words.js';
import { Grid, SearchField, type Column } from '../grid.js';
import { Age, Mark, markOf, PortLink, Problem } from '../parts.js';
import { useChanges, usePolled } from '../requests.js';
import { replaceRoute, type HistoryRoute, type ServiceRoute } from '../routing.js';
import { clockTime, counted, durationText, parseServicePort, searchWords } from '../text.js';

const PERIOD = 10_000;
const GRID = 'changes';

/** All changes that the proxy remembers, with a search. */
export function HistoryView({ route }: { readonly route: HistoryRoute }): JSX.Element {
  const { search = '', failing = false } = route;
  const { value, at, problem } = usePolled<History>('debug/history', { period: PERIOD, when: useChanges() });
  const rows = useMemo(
    () => value && searchChanges(value.changes, search, failing),
    [value, search, failing],
  );
  return (
    <>
      <div class="bar">
        <h1>History</h1>
        <SearchField
          text={search}
          placeholder="service, endpoint, result"
          grid={GRID}
          onText={(text) => replaceRoute({ ...route, search: text })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={failing}
            onChange={({ currentTarget }) => replaceRoute({ ...route, failing: currentTarget.checked })}
          />
          Only what failed, is degraded or was repaired
        </label>
        <output class="count">
          <Age at={at} /> {rows && value && countText(rows.length, value)}
        </output>
      </div>
      <Problem problem={problem} what="history" />
      {rows && (
        <Grid
          name={GRID}
          label="What changed"
          rows={rows}
          columns={GRID_COLUMNS}
          keyOf={(change) =>
            `${change.time} ${change.family} ${change.kind === 'service-port' && change.servicePort}`
          }
          routeOf={routeOfChange}
        />
      )}
      {rows?.length === 0 && <p class="absent">The proxy remembers no such change.</p>}
      {!value && !problem && <p class="absent">Loading…</p>}
    </>
  );
}

/** When a change was programmed, how long that took, and what changed. */
export function changeColumns(linkTabIndex: 0 | -1): readonly Column<ChangeEntry>[] {
  return [
    { name: 'at', title: 'At', text: ({ time }) => clockTime(time) },
    {
      name: 'state',
      title: 'Result',
      text: resultWords,
      cell: (change) => {
        const mark = markOfChange(change);
        return (
          <span class={mark}>
            <Mark kind={mark} /> {resultWords(change)}
          </span>
        );
      },
    },
    {
      name: 'name',
      title: 'Service port',
      text: subjectText,
      cell: (change) =>
        change.kind === 'service-port' ? (
          <>
            <PortLink port={change.servicePort} tabIndex={linkTabIndex} />{' '}
            <span class="quiet">{change.family}</span>
          </>
        ) : (
          subjectText(change)
        ),
    },
    {
      name: 'number',
      title: 'Took',
      text: ({ durationSeconds }) =>
        durationSeconds === undefined ? '' : durationText(durationSeconds * 1_000),
    },
    { name: 'words', title: 'What', text: changeText },
  ];
}

/** The tab key reaches the rows of a grid, not the links in them. */
const GRID_COLUMNS = changeColumns(-1);

export function markOfChange(change: ChangeEntry): ReturnType<typeof markOf> {
  return markOf(change.kind === 'service-port' ? change.result : change.kind);
}

/** What a change changed, or why it failed, in one line. */
export function changeText(change: ChangeEntry): string {
  return changeWords(change) || counted(change.writtenSteps, 'step');
}

/**
 * The changes in which every word occurs, in the service port, the family, the result or its description; the newest first.
 * @param changes the oldest first
 */
export function searchChanges(
  changes: readonly ChangeEntry[],
  search: string,
  failing: boolean,
): readonly ChangeEntry[] {
  const words = searchWords(search);
  return changes.toReversed().filter((change) => {
    if (failing && !isFailing(change)) return false;
    const text = [subjectText(change), resultWords(change), changeText(change)].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The service port that changed, or the family. */
function subjectText(change: ChangeEntry): string {
  if (change.kind !== 'service-port') return `all of ${change.family}`;
  const port = parseServicePort(change.servicePort);
  const name = port ? `${port.namespace}/${port.name} ${portWords(port)}` : change.servicePort;
  return `${name} ${change.family}`;
}

function isFailing(change: ChangeEntry): boolean {
  if (change.kind !== 'service-port') return change.kind !== 'everything-programmed';
  return change.result === 'failed' || change.result === 'degraded';
}

function routeOfChange(change: ChangeEntry): ServiceRoute | undefined {
  const port = change.kind === 'service-port' ? parseServicePort(change.servicePort) : undefined;
  return port && { view: 'service', namespace: port.namespace, name: port.name };
}

/** Of the changes since the start, the proxy remembers the last thousand. */
function countText(shown: number, { changes, total }: History): string {
  const remembered = counted(changes.length, 'change');
  const older = total > changes.length ? ` remembered, ${total.toLocaleString('en')} since the start` : '';
  return `${shown === changes.length ? '' : `${shown.toLocaleString('en')} of `}${remembered}${older}`;
}
