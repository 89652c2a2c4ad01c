import { render, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProxyStatus } from '../../../application/status/proxy-status.js';
import { Field, State } from './parts.js';
import { OLD, oldestTime, useConnection, useHeartbeat, usePolled } from './requests.js';
import { hrefOf, navigate, replaceRoute, restore, useVisit, whenPresent, type Route } from './routing.js';
import { clockTime, durationText } from './text.js';
import { HistoryView } from './views/history-view.js';
import { OverviewView } from './views/overview-view.js';
import { ServiceView } from './views/service-view.js';
import { ServicesView } from './views/services-view.js';
import { TraceView } from './views/trace-view.js';

const NAVIGATION = ['Overview', 'Services', 'History', 'Trace'] as const;
const SECOND = 1_000;

/** The whole page: its head, and the view in the address. */
function Page(): JSX.Element {
  const { route, key, position } = useVisit();
  useHeartbeat();
  const status = usePolled<ProxyStatus>('debug/status');
  const node = status.value?.node;
  const shown = route.view === 'service' ? `${route.namespace}/${route.name}` : route.view;
  const title = [shown, node, 'kube-proxy-ts'].filter(Boolean).join(' – ');
  useEffect(() => {
    document.title = title;
  }, [title]);
  // A new view gets the focus, so that the next tab is in it and a screen reader reads it.
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    const isSearching = document.activeElement?.matches('.head input');
    if (position) restore(position);
    else if (!isFirst.current) {
      scrollTo(0, 0);
      if (!isSearching) main.current?.focus();
    }
    isFirst.current = false;
  }, [key]);
  const current = route.view === 'service' ? 'services' : route.view;
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="head">
        <a class="brand" href={hrefOf({ view: 'overview' })}>
          kube-proxy-ts{node && ` on ${node}`}
        </a>
        <nav aria-label="Views">
          {NAVIGATION.map((label) => {
            const view = label.toLowerCase() as Lowercase<typeof label>;
            return (
              <a key={view} href={hrefOf({ view })} aria-current={view === current && 'page'}>
                {label}
              </a>
            );
          })}
        </nav>
        <Search route={route} />
        <Freshness />
      </header>
      <main tabIndex={-1} ref={main}>
        {route.view === 'overview' && <OverviewView status={status} />}
        {route.view === 'services' && <ServicesView route={route} />}
        {route.view === 'service' && <ServiceView route={route} key={shown} />}
        {route.view === 'history' && <HistoryView route={route} />}
        {route.view === 'trace' && <TraceView route={route} key={key} />}
      </main>
    </>
  );
}

/** Searches Services, from every view: `/` goes there, Enter opens the first match, Escape clears it. */
function Search({ route }: { readonly route: Route }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const text = route.view === 'services' ? (route.search ?? '') : '';
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const search = (typed: string): void => {
    if (route.view === 'services') replaceRoute({ ...route, search: typed, rows: 0 });
    else navigate({ view: 'services', search: typed });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && text === '') return field.current?.blur();
    if (event.key !== 'ArrowDown' && event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    if (event.key === 'Escape') return search('');
    const answered = `[data-search="${CSS.escape(text)}"] td.name a`;
    whenPresent(answered, (link) => (event.key === 'Enter' ? link.click() : link.focus()));
  };
  return (
    <Field
      label="Search (/)"
      type="search"
      placeholder="service, port, address, endpoint"
      value={text}
      ref={field}
      onText={search}
      onKeyDown={onKeyDown}
    />
  );
}

/** Whether the page is live, or since when it is not, and the age of the oldest data that it shows. */
function Freshness(): JSX.Element {
  const { connected, since } = useConnection();
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND / 2);
    return () => clearInterval(timer);
  }, []);
  const oldest = oldestTime();
  const age = oldest === undefined ? undefined : Math.max(0, Date.now() - oldest);
  const isLive = connected && age !== undefined && age < OLD;
  return (
    <p class="freshness">
      <span role="status">
        {isLive && <State kind="ok">live</State>}
        {!connected && <State kind="error">not responding since {clockTime(since)}</State>}
        {connected && !isLive && <State kind="warning">waiting for data</State>}
      </span>
      {age !== undefined && (
        <span>
          {isLive ? ', ' : '; '}updated {durationText(Math.max(1, Math.floor(age / SECOND)) * SECOND)} ago
        </span>
      )}
    </p>
  );
}

render(<Page />, document.body);
