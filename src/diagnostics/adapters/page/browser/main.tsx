import { render, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProxyStatus } from '../../../application/status/proxy-status.js';
import { State } from './parts.js';
import { followConnection, OLD, oldestTime, useConnection, usePolled, type Polled } from './requests.js';
import { hrefOf, navigate, replaceRoute, restore, useVisit, whenPresent, type Route } from './routing.js';
import { clockTime, durationText } from './text.js';
import { HistoryView } from './views/history-view.js';
import { OverviewView } from './views/overview-view.js';
import { ServiceView } from './views/service-view.js';
import { ServicesView } from './views/services-view.js';
import { TraceView } from './views/trace-view.js';

const NAVIGATION = [
  ['Overview', 'overview'],
  ['Services', 'services'],
  ['History', 'history'],
  ['Trace', 'trace'],
] as const;

const SECOND = 1_000;

/** The whole page: its head, and the view in the address. */
function Page(): JSX.Element {
  const { route, key, position } = useVisit();
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
    const isSearching = document.activeElement?.matches('.search input');
    if (position) restore(position);
    else if (!isFirst.current) {
      scrollTo(0, 0);
      if (!isSearching) main.current?.focus();
    }
    isFirst.current = false;
  }, [key]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="head">
        <a class="brand" href={hrefOf({ view: 'overview' })}>
          kube-proxy-ts{node && ` on ${node}`}
        </a>
        <nav aria-label="Views">
          {NAVIGATION.map(([label, view]) => (
            <a
              key={label}
              href={hrefOf({ view })}
              {...((view === route.view || (view === 'services' && route.view === 'service')) && {
                'aria-current': 'page' as const,
              })}
            >
              {label}
            </a>
          ))}
        </nav>
        <Search route={route} />
        <Freshness />
      </header>
      <main id="main" class={`view ${route.view}`} tabIndex={-1} ref={main}>
        <View route={route} status={status} />
      </main>
    </>
  );
}

function View(props: { readonly route: Route; readonly status: Polled<ProxyStatus> }): JSX.Element {
  const { route, status } = props;
  switch (route.view) {
    case 'overview':
      return <OverviewView status={status} />;
    case 'services':
      return <ServicesView route={route} />;
    case 'service':
      return <ServiceView route={route} key={`${route.namespace}/${route.name}`} />;
    case 'history':
      return <HistoryView route={route} />;
    case 'trace':
      return <TraceView route={route} />;
  }
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
    <label class="search">
      <span>
        Search <kbd>/</kbd>
      </span>
      <input
        type="search"
        ref={field}
        value={text}
        placeholder="service, port, address, endpoint"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </label>
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

void followConnection();
render(<Page />, document.body);
