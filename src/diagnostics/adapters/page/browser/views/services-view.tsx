import type { JSX } from 'preact';
import type { FoundService, ServiceMatches } from '../../../../application/status/service-row.js';
import { EmptyCluster, ListHead, Problem, ROWS, ServiceLink, State, Table, type Column } from '../parts.js';
import { usePolled } from '../requests.js';
import { hrefOf, queryOf, type ServicesRoute } from '../routing.js';
import { counted } from '../text.js';

const FULL_NAME = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/;

/** The Services that the search in the head of the page finds, or all: exact matches first, then problems. */
export function ServicesView({ route }: { readonly route: ServicesRoute }): JSX.Element {
  const { search = '', problems = false, rows = 0 } = route;
  const path = `debug/search${queryOf({ text: search, problems, limit: Math.max(ROWS, rows) })}`;
  const polled = usePolled<ServiceMatches>(path, true);
  const { value, time, path: answered } = polled;
  const isEmpty = value?.total === 0 && !search && !problems;
  const [, namespace, name] = FULL_NAME.exec(search.trim()) ?? [];
  return (
    <>
      <ListHead
        title="Services"
        route={route}
        time={time}
        count={value && `${counted(value.total, 'Service')}${search && ' found'}`}
      />
      <Problem polled={polled} what="list of Services" />
      {isEmpty && <EmptyCluster />}
      {value && value.total > 0 && (
        <div class="panel" data-search={answered === path ? search : undefined}>
          <Table
            label="Services"
            columns={COLUMNS}
            rows={value.services}
            keyOf={({ namespace, name }) => `${namespace}/${name}`}
            total={value.total}
            route={route}
          />
        </div>
      )}
      {value?.total === 0 && !isEmpty && (
        <p class="quiet">
          No {problems ? 'problem' : 'Service'} found.{' '}
          {namespace && name && (
            <a href={hrefOf({ view: 'service', namespace, name })}>Look {search} up in the cluster</a>
          )}
        </p>
      )}
    </>
  );
}

const COLUMNS: readonly Column<FoundService>[] = [
  { name: 'state', title: 'State', cell: ({ state }) => <State kind={state}>{state}</State> },
  {
    name: 'name',
    title: 'Service',
    cell: ({ namespace, name }) => <ServiceLink service={`${namespace}/${name}`} />,
  },
  { name: 'words', title: 'Reason', cell: ({ reason }) => reason },
  { name: 'type', title: 'Type', cell: ({ type = '' }) => type },
  {
    name: 'address',
    title: 'Frontends',
    cell: ({ frontends, foundEndpoints }) => (
      <>
        {foundEndpoints && <b>→ {foundEndpoints.join(', ')} </b>}
        {frontends.join(', ')}
      </>
    ),
  },
];
