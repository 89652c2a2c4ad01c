import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { EndpointMatches, ServiceList } from '../../../../../application/status/service-row.js';
import { endpointsWith, SERVICE_LIST } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Age } from '../../parts/age.js';
import { EmptyCluster } from '../../parts/empty-cluster.js';
import { Grid } from '../../parts/grid/grid.js';
import { SearchField } from '../../parts/grid/search-field.js';
import { counted } from '../../parts/time.js';
import { Trouble } from '../../parts/trouble.js';
import type { ServicesPlace, Show } from '../../place.js';
import { refine } from '../../use-place.js';
import { COLUMNS, placeOfRow } from './columns.js';
import { namespacesOf, partsOfEndpoints, Search } from './search.js';
import { sortRows } from './sort-rows.js';

const GRID = 'services';

/** Retries may change a state without any event. Milliseconds. */
const AT_LEAST_EVERY = 15_000;

const CHOICES: readonly (readonly [Show, label: string])[] = [
  ['all', 'All'],
  ['failing', 'Failing'],
  ['without-endpoints', 'Without endpoints'],
  ['held', 'Held'],
  ['aside', 'Aside'],
];

/** All Services, to search. */
export function ServicesView({ place }: { readonly place: ServicesPlace }): JSX.Element {
  const changes = useChanges();
  const pace = { period: AT_LEAST_EVERY, when: changes };
  const { value, at, problem } = useFollowed<ServiceList>(SERVICE_LIST, pace);
  const { search: text, show, namespace = '', sort } = place;
  const parts = partsOfEndpoints(text);
  const endpoints = useFollowed<EndpointMatches>(parts.length > 0 ? endpointsWith(parts) : undefined, pace);
  const isLooking = parts.length > 0 && !endpoints.value && !endpoints.problem;

  const search = useMemo(() => value && new Search(value.services), [value]);
  const namespaces = useMemo(() => namespacesOf(value?.services ?? []), [value]);
  const rows = useMemo(
    () =>
      search && sortRows(search.matching({ search: text, show, namespace }, endpoints.value?.matches), sort),
    [search, text, show, namespace, endpoints.value, sort?.by, sort?.isDescending],
  );
  return (
    <>
      <div class="bar">
        <h1>Services</h1>
        <SearchField
          text={text}
          placeholder="name, port, address, endpoint"
          grid={GRID}
          onText={(typed) => refine({ ...place, search: typed })}
        />
        <NamespacePick
          namespace={namespace}
          all={namespaces}
          onPick={(picked) => refine({ ...place, namespace: picked })}
        />
        <ShowChoice show={show} onShow={(chosen) => refine({ ...place, show: chosen })} />
        <output class="count">
          <Age at={at} /> {isLooking && 'looking at endpoints, '}
          {rows && value && countText(rows.length, value.services.length)}
        </output>
      </div>
      <Trouble problem={problem} what="list of services" />
      {value?.services.length === 0 && <EmptyCluster />}
      {rows && value!.services.length > 0 && (
        <Grid
          name={GRID}
          label="Services"
          rows={rows}
          columns={COLUMNS}
          keyOf={(row) => `${row.namespace}/${row.name}`}
          placeOf={placeOfRow}
          sort={sort}
          onSort={(chosen) => refine({ ...place, sort: chosen })}
        />
      )}
      {rows?.length === 0 && value!.services.length > 0 && !isLooking && (
        <p class="absent">No service matches.</p>
      )}
      {!value && !problem && <p class="absent">Asking the proxy…</p>}
    </>
  );
}

interface ShowProps {
  readonly show: Show;
  readonly onShow: (show: Show) => void;
}

function ShowChoice({ show, onShow }: ShowProps): JSX.Element {
  return (
    <fieldset class="choice">
      <legend class="unseen">Which services</legend>
      {CHOICES.map(([choice, label]) => (
        <label key={choice}>
          <input
            type="radio"
            name="show"
            value={choice}
            checked={choice === show}
            onChange={() => onShow(choice)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

interface PickProps {
  readonly namespace: string;
  readonly all: readonly string[];
  readonly onPick: (namespace: string) => void;
}

function NamespacePick({ namespace, all, onPick }: PickProps): JSX.Element {
  const isGone = namespace !== '' && !all.includes(namespace);
  return (
    <div class="pick">
      <label for="namespace">Namespace</label>
      <select id="namespace" value={namespace} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
        <option value="">all</option>
        {[...(isGone ? [namespace] : []), ...all].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function countText(shown: number, all: number): string {
  return shown === all
    ? counted(all, 'service')
    : `${shown.toLocaleString('en')} of ${counted(all, 'service')}`;
}
