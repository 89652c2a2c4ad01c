import type { Sort } from './parts/grid/column.js';

/** What the page shows. It stands in the address, behind the `#`, so that it can be kept and sent. */
export type Place =
  | { readonly view: 'overview' }
  | ServicesPlace
  | { readonly view: 'service'; readonly namespace: string; readonly name: string }
  | HistoryPlace
  | { readonly view: 'trace'; readonly from: string; readonly to: string; readonly kernel: boolean };

/** The list of services. */
export interface ServicesPlace {
  readonly view: 'services';
  readonly search: string;
  readonly show: Show;
  /** Only of this one; all, if missing or empty. */
  readonly namespace?: string;
  /** By a column; missing: by name. */
  readonly sort?: Sort | undefined;
}

/** What changed. */
export interface HistoryPlace {
  readonly view: 'history';
  readonly search: string;
  /** Only what failed or is degraded. */
  readonly failing: boolean;
}

/**
 * Which services: all, those that failed to be programmed or are degraded, those without a usable endpoint, those of which others hold
 * frontends, or those of which endpoints step aside.
 */
export type Show = (typeof SHOWS)[number];

export const SHOWS = ['all', 'failing', 'without-endpoints', 'held', 'aside'] as const;

/** The place of an address such as `#/service/shop/cart`; the overview when it names none. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [view, namespace, name] = path.split('/').map(decoded);
  const parameters = new URLSearchParams(query);
  const text = (key: string): string => parameters.get(key) ?? '';
  switch (view) {
    case 'services':
      return {
        view,
        search: text('search'),
        show: SHOWS.find((show) => show === text('show')) ?? 'all',
        namespace: text('namespace'),
        sort: sortOf(text('sort')),
      };
    case 'service':
      return namespace && name ? { view, namespace, name } : { view: 'overview' };
    case 'history':
      return { view, search: text('search'), failing: parameters.has('failing') };
    case 'trace':
      return { view, from: text('from'), to: text('to'), kernel: parameters.has('kernel') };
    default:
      return { view: 'overview' };
  }
}

/** The reverse of `placeOf`. */
export function hrefOf(place: Place): string {
  switch (place.view) {
    case 'overview':
      return '#/';
    case 'services': {
      const { search, show, namespace = '', sort } = place;
      return `#/services${queryOf({ search, show: show === 'all' ? '' : show, namespace, sort: sortText(sort) })}`;
    }
    case 'history':
      return `#/history${queryOf({ search: place.search, failing: place.failing ? 'yes' : '' })}`;
    case 'service':
      return `#/service/${encodeURIComponent(place.namespace)}/${encodeURIComponent(place.name)}`;
    case 'trace':
      return `#/trace${queryOf({ from: place.from, to: place.to, kernel: place.kernel ? 'yes' : '' })}`;
  }
}

/** The parameters that are not empty, as a query; nothing when all are. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** `endpoints`, or `-endpoints` for the other way round. */
function sortOf(text: string): Sort | undefined {
  return text === '' ? undefined : { by: text.replace(/^-/, ''), isDescending: text.startsWith('-') };
}

function sortText(sort: Sort | undefined): string {
  return sort ? `${sort.isDescending ? '-' : ''}${sort.by}` : '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
