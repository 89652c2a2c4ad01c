import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { ejectedCountText } from '../../../../../application/words.js';
import type {
  EndpointMatch,
  EndpointMatches,
  ServiceList,
  ServiceRow,
} from '../../../../application/status/service-row.js';
import { VERDICT_STATES } from '../../../../../domain/verdict/verdict.js';
import { Grid, SearchField, type Column } from '../grid.js';
import { Age, EmptyCluster, Mark, markOf, Problem } from '../parts.js';
import { useChanges, usePolled } from '../requests.js';
import { hrefOf, replaceRoute, type ServiceRoute, type ServicesRoute, type Show } from '../routing.js';
import { addressRank, counted, searchWords, sortedBy } from '../text.js';

const GRID = 'services';

/** Milliseconds. Retries may change a state without any event. */
const PERIOD = 15_000;

const CHOICES: readonly (readonly [Show, label: string])[] = [
  ['', 'All'],
  ['problems', 'Problems'],
  ['aside', 'Aside'],
];

/** All Services, with a search. */
export function ServicesView({ route }: { readonly route: ServicesRoute }): JSX.Element {
  const options = { period: PERIOD, when: useChanges() };
  const { value, at, problem } = usePolled<ServiceList>('debug/services', options);
  const { search = '', show = '', namespace = '', sort = '' } = route;
  const parts = endpointParts(search);
  const query = new URLSearchParams(parts.map((part) => ['part', part])).toString();
  const endpoints = usePolled<EndpointMatches>(
    parts.length > 0 ? `debug/endpoints?${query}` : undefined,
    options,
  );
  const isSearching = parts.length > 0 && !endpoints.value && !endpoints.problem;
  const services = value?.services;
  const namespaces = useMemo(
    () => [...new Set([...(services ?? []).map((row) => row.namespace), namespace])].filter(Boolean).sort(),
    [services, namespace],
  );
  const rows = useMemo(
    () =>
      services &&
      sortServices(searchServices(services, { search, show, namespace }, endpoints.value?.matches), sort),
    [services, search, show, namespace, endpoints.value, sort],
  );
  return (
    <>
      <div class="bar">
        <h1>Services</h1>
        <SearchField
          text={search}
          placeholder="name, port, address, endpoint"
          grid={GRID}
          onText={(typed) => replaceRoute({ ...route, search: typed })}
        />
        <div class="pick">
          <label for="namespace">Namespace</label>
          <select
            id="namespace"
            value={namespace}
            onChange={({ currentTarget }) => replaceRoute({ ...route, namespace: currentTarget.value })}
          >
            <option value="">all</option>
            {namespaces.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <fieldset class="choice">
          <legend class="unseen">Which services</legend>
          {CHOICES.map(([choice, label]) => (
            <label key={choice}>
              <input
                type="radio"
                name="show"
                value={choice}
                checked={choice === show}
                onChange={() => replaceRoute({ ...route, show: choice })}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <output class="count">
          <Age at={at} /> {isSearching && 'looking at endpoints, '}
          {rows && services && countText(rows.length, services.length)}
        </output>
      </div>
      <Problem problem={problem} what="list of services" />
      {services?.length === 0 && <EmptyCluster />}
      {rows && services && services.length > 0 && (
        <>
          <Grid
            name={GRID}
            label="Services"
            rows={rows}
            columns={COLUMNS}
            keyOf={(row) => `${row.namespace}/${row.name}`}
            routeOf={routeOf}
            sort={sort}
            onSort={(chosen) => replaceRoute({ ...route, sort: chosen })}
          />
          {rows.length === 0 && !isSearching && <p class="absent">No service matches.</p>}
        </>
      )}
      {!value && !problem && <p class="absent">Loading…</p>}
    </>
  );
}

function countText(shown: number, all: number): string {
  return `${shown === all ? '' : `${shown.toLocaleString('en')} of `}${counted(all, 'service')}`;
}

/** A row, with the endpoints for which the search found it. */
interface FoundService extends ServiceRow {
  readonly found?: string;
}

const COLUMNS: readonly Column<FoundService>[] = [
  {
    name: 'state',
    title: 'State',
    text: ({ state }) => state,
    tip: ({ reason }) => reason,
    cell: ({ state }) => (
      <>
        <Mark kind={markOf(state)} /> {state}
      </>
    ),
  },
  {
    name: 'name',
    title: 'Service',
    text: ({ namespace, name }) => `${namespace}/${name}`,
    cell: (row) => (
      <a href={hrefOf(routeOf(row))} tabIndex={-1}>
        <span class="namespace">{row.namespace}/</span>
        {row.name}
      </a>
    ),
  },
  { name: 'type', title: 'Type', text: ({ type = '' }) => type },
  {
    name: 'endpoints',
    title: 'Endpoints',
    text: ({ endpointCounts: { used, known, ejected } }) =>
      `${used === known ? used : `${used} of ${known}`}${ejectedCountText(ejected)}`,
  },
  {
    name: 'frontends',
    title: 'Frontends',
    text: ({ frontends, found }) => [...(found ? [`→ ${found}`] : []), ...frontends].join('  '),
  },
];

function routeOf({ namespace, name }: ServiceRow): ServiceRoute {
  return { view: 'service', namespace, name };
}

/** A part of an endpoint's `ip:port` that is worth a request. */
const ENDPOINT_PART = /^(?=.*[.:])[[\]\da-f.:]{4,}$/;

/** The words of a search that may be parts of endpoints' addresses, which no row has. */
export function endpointParts(search: string): readonly string[] {
  return searchWords(search).filter((word) => ENDPOINT_PART.test(word));
}

/**
 * The rows, in order, in which every word of the search occurs: in the name, a port's name, the type, the state and its reason, or
 * an address. @param matches Services with matching endpoints
 */
export function searchServices(
  rows: readonly ServiceRow[],
  { search, show, namespace }: Required<Pick<ServicesRoute, 'search' | 'show' | 'namespace'>>,
  matches: readonly EndpointMatch[] = [],
): readonly FoundService[] {
  const words = searchWords(search);
  const endpoints = new Map(matches.map((match) => [match.service, match.endpoints.join('  ')]));
  return rows.flatMap((row) => {
    if ((namespace && row.namespace !== namespace) || !isShown(row, show)) return [];
    if (words.length === 0) return [row];
    const text = searchedText(row);
    const missing = words.filter((word) => !text.includes(word));
    if (missing.length === 0) return [row];
    const found = endpoints.get(`${row.namespace}/${row.name}`);
    return found !== undefined && missing.every((word) => found.includes(word)) ? [{ ...row, found }] : [];
  });
}

function searchedText(row: ServiceRow): string {
  const { namespace, name, type = '', frontends, portNames: ports = [], state, reason } = row;
  const service = `${namespace}/${name}`;
  const named = ports.map((port) => `${service}:${port}`);
  return [service, ...named, type, state, reason, ...frontends].join(' ').toLowerCase();
}

function isShown(row: ServiceRow, show: Show): boolean {
  switch (show) {
    case '':
      return true;
    case 'problems':
      return row.state !== 'ok';
    case 'aside':
      return (row.endpointCounts.ejected ?? 0) > 0;
  }
}

const RANKS: Readonly<Record<string, (row: ServiceRow) => string | number>> = {
  state: ({ state }) => -VERDICT_STATES.indexOf(state),
  name: ({ namespace, name }) => `${namespace}\0${name}`,
  type: ({ type = '' }) => type,
  endpoints: ({ endpointCounts }) => endpointCounts.used,
  frontends: ({ frontends }) => addressRank(frontends[0] ?? ''),
};

/** The rows by a column, after `-` in descending order. */
export function sortServices<Row extends ServiceRow>(rows: readonly Row[], sort: string): readonly Row[] {
  const rank = RANKS[sort.replace('-', '')];
  return rank ? sortedBy(rows, rank, sort.startsWith('-')) : rows;
}
