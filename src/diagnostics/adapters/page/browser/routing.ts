import { useEffect, useState } from 'preact/hooks';

/** A view and what it shows. It is in the address, after the `#`, so that users can bookmark and share it. */
export type Route = { readonly view: 'overview' } | ServicesRoute | ServiceRoute | HistoryRoute | TraceRoute;

export interface ServicesRoute {
  readonly view: 'services';
  readonly search?: string;
  readonly show?: Show;
  /** Empty: all. */
  readonly namespace?: string;
  /** The name of a column, after `-` in descending order; empty: as the proxy sends them. */
  readonly sort?: string;
}

export interface ServiceRoute {
  readonly view: 'service';
  readonly namespace: string;
  readonly name: string;
}

export interface HistoryRoute {
  readonly view: 'history';
  readonly search?: string;
  /** Only what failed or is degraded. */
  readonly failing?: boolean;
}

export interface TraceRoute {
  readonly view: 'trace';
  readonly from?: string;
  readonly to?: string;
  /** By the rules in the kernel instead of those that the proxy applied. */
  readonly kernel?: boolean;
}

/**
 * Which Services: all, those that failed to be programmed or are degraded, those without a usable endpoint, those with frontends
 * that belong to other Services, or those with ejected endpoints.
 */
export type Show = (typeof SHOWS)[number];

export const SHOWS = ['', 'problems', 'aside'] as const;

/** The route in an address such as `#/service/shop/cart`; the overview if there is none. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [view, namespace, name] = path.split('/').map(decode);
  const parameters = new URLSearchParams(query);
  const text = (key: string): string => parameters.get(key) ?? '';
  switch (view) {
    case 'services': {
      const show = SHOWS.find((one) => one === text('show')) ?? '';
      return { view, search: text('search'), show, namespace: text('namespace'), sort: text('sort') };
    }
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

/** The reverse of `parseRoute`. */
export function hrefOf(route: Route): string {
  if (route.view === 'service')
    return `#/service/${encodeURIComponent(route.namespace)}/${encodeURIComponent(route.name)}`;
  const { view, ...parameters } = route;
  return view === 'overview' ? '#/' : `#/${view}${queryOf(parameters)}`;
}

/** The parameters as a query, without those that are empty or false; empty if all are. */
export function queryOf(parameters: Readonly<Record<string, string | boolean | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([key, value]) => [key, value === true ? 'yes' : String(value)])).toString()}`;
}

/** The route in the address, now and after each change. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Opens a view as a link does. */
export function navigate(route: Route): void {
  location.hash = hrefOf(route);
}

/** Changes the current route without a new entry in the browser's history, as typing does. */
export function replaceRoute(route: Route): void {
  history.replaceState(null, '', hrefOf(route));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
