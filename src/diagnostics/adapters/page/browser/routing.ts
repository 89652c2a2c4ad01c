import { useEffect, useState } from 'preact/hooks';

type RouteOf<View, Parameters> = Readonly<{ view: View } & Partial<Parameters>>;

/** The Services in which a text occurs, with `problems` only those that are not ok; `rows` if more are shown than at first. */
export type ServicesRoute = RouteOf<'services', { search: string; problems: boolean; rows: number }>;

/** One Service, with the number of rows of its endpoints. */
export type ServiceRoute = RouteOf<'service', { rows: number }> &
  Readonly<{ namespace: string; name: string }>;

/** The changes in which a text occurs, with `problems` only failures, degradations and repairs. */
export type HistoryRoute = RouteOf<'history', { filter: string; problems: boolean; rows: number }>;

/** With `kernel`, by the rules in the kernel instead of those that the proxy applied. */
export type TraceRoute = RouteOf<'trace', { from: string; to: string; kernel: boolean; rows: number }>;

/** A view and what it shows. It is in the address, after the `#`, so that users can bookmark and share it. */
export type Route = RouteOf<'overview', object> | ServicesRoute | ServiceRoute | HistoryRoute | TraceRoute;

/** The route in an address such as `#/service/shop/cart`; the overview if there is none. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [view, namespace, name] = path.split('/').map(decode);
  const parameters = new URLSearchParams(query);
  const text = (key: string): string => parameters.get(key) ?? '';
  const rows = Number(text('rows')) || 0;
  switch (view) {
    case 'services':
      return { view, search: text('search'), problems: parameters.has('problems'), rows };
    case 'service':
      return namespace && name ? { view, namespace, name, rows } : { view: 'overview' };
    case 'history':
      return { view, filter: text('filter'), problems: parameters.has('problems'), rows };
    case 'trace':
      return { view, from: text('from'), to: text('to'), kernel: parameters.has('kernel'), rows };
    default:
      return { view: 'overview' };
  }
}

/** The reverse of `parseRoute`. */
export function hrefOf(route: Route): string {
  if (route.view === 'overview') return '#/';
  if (route.view === 'service') {
    const { namespace, name, rows } = route;
    return `#/service/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${queryOf({ rows })}`;
  }
  const { view, ...parameters } = route;
  return `#/${view}${queryOf(parameters)}`;
}

/** The parameters as a query, without those that are empty, zero or false; empty if all are. */
export function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where the user was in a view: how far it was scrolled, and the focused link. */
interface Position {
  readonly top: number;
  readonly href: string | null;
}

/** An entry of the browser's history. */
interface Visit {
  readonly route: Route;
  /** The same while the route is only replaced. */
  readonly key: string;
  /** Where the user was when this entry was left. */
  readonly position?: Position | undefined;
}

const positions = new Map<string, Position>();
let visit: Visit;
let onVisit: (visit: Visit) => void = () => {};

/** The visit of the current address, now and after each change. */
export function useVisit(): Visit {
  const [current, setCurrent] = useState(() => {
    history.scrollRestoration = 'manual';
    return (visit = arrive());
  });
  useEffect(() => {
    onVisit = setCurrent;
    const follow = (): void => {
      leave();
      onVisit((visit = arrive()));
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  return current;
}

function leave(): void {
  positions.set(visit.key, { top: scrollY, href: document.activeElement?.getAttribute('href') ?? null });
}

/** An entry without a key is new. */
function arrive(): Visit {
  const state = history.state as { readonly key?: string } | null;
  const key = state?.key ?? String(performance.timeOrigin + performance.now());
  if (!state?.key) history.replaceState({ key }, '');
  return { route: parseRoute(location.hash), key, position: positions.get(key) };
}

/** Opens a view as a link does. */
export function navigate(route: Route): void {
  leave();
  history.pushState(null, '', hrefOf(route));
  onVisit((visit = arrive()));
}

/** Changes the current route without a new entry in the browser's history, as typing does. */
export function replaceRoute(route: Route): void {
  history.replaceState(history.state, '', hrefOf(route));
  onVisit((visit = { ...visit, route }));
}

/** Shows a view as it was left, once its rows are there. */
export function restore({ top, href }: Position): void {
  const { key } = visit;
  whenPresent(href === null ? 'main' : `main a[href="${CSS.escape(href)}"]`, (element) => {
    if (visit.key !== key) return;
    element.focus({ preventScroll: true });
    scrollTo(0, top);
  });
}

/** Calls back with an element as soon as it is there, if that is within milliseconds. */
export function whenPresent(selector: string, use: (element: HTMLElement) => void, timeout = 3_000): void {
  const deadline = performance.now() + timeout;
  const look = (): void => {
    const element = document.querySelector<HTMLElement>(selector);
    if (element) use(element);
    else if (performance.now() < deadline) requestAnimationFrame(look);
  };
  look();
}
