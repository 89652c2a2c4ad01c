import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { History } from '../../../../../../application/status/change-entry.js';
import { historyOf } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Age } from '../../parts/age.js';
import { Grid } from '../../parts/grid/grid.js';
import { SearchField } from '../../parts/grid/search-field.js';
import { counted } from '../../parts/time.js';
import { Trouble } from '../../parts/trouble.js';
import type { HistoryPlace } from '../../place.js';
import { refine } from '../../use-place.js';
import { COLUMNS, placeOfChange } from './columns.js';
import { SearchChanges } from './search-changes.js';

const AT_LEAST_EVERY = 10_000;
const GRID = 'changes';

/** All changes that the proxy remembers, to search. */
export function HistoryView({ place }: { readonly place: HistoryPlace }): JSX.Element {
  const pace = { period: AT_LEAST_EVERY, when: useChanges() };
  const { value, at, problem } = useFollowed<History>(historyOf(), pace);
  const search = useMemo(() => value && new SearchChanges(value.changes), [value]);
  const rows = useMemo(
    () => search?.matching(place.search, place.failing),
    [search, place.search, place.failing],
  );
  return (
    <>
      <div class="bar">
        <h1>History</h1>
        <SearchField
          text={place.search}
          placeholder="service, endpoint, result"
          grid={GRID}
          onText={(search) => refine({ ...place, search })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={place.failing}
            onChange={({ currentTarget }) => refine({ ...place, failing: currentTarget.checked })}
          />
          Only what failed, is degraded or was repaired
        </label>
        <output class="count">
          <Age at={at} /> {rows && value && countText(rows.length, value)}
        </output>
      </div>
      <Trouble problem={problem} what="history" />
      {rows && (
        <Grid
          name={GRID}
          label="What changed"
          rows={rows}
          columns={COLUMNS}
          keyOf={(change) =>
            `${change.at} ${change.family} ${change.what === 'service-port' && change.servicePort}`
          }
          placeOf={placeOfChange}
        />
      )}
      {rows?.length === 0 && <p class="absent">Nothing of that has changed, as far as is remembered.</p>}
      {!value && !problem && <p class="absent">Asking the proxy…</p>}
    </>
  );
}

/** Of the changes since the start, the proxy remembers the last thousand. */
function countText(shown: number, { changes, total }: History): string {
  const remembered = counted(changes.length, 'change');
  const forgotten =
    total > changes.length ? ` remembered, ${total.toLocaleString('en')} since the start` : '';
  return `${shown === changes.length ? '' : `${shown.toLocaleString('en')} of `}${remembered}${forgotten}`;
}
