import { render, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ProxyStatus } from '../../../application/status/proxy-status.js';
import { Mark } from './parts.js';
import { useConnection, usePolled, type Polled } from './requests.js';
import { hrefOf, useRoute, type Route } from './routing.js';
import { clockTime } from './text.js';
import { HistoryView } from './views/history-view.js';
import { OverviewView } from './views/overview-view.js';
import { ServiceView } from './views/service-view.js';
import { ServicesView } from './views/services-view.js';
import { TraceView } from './views/trace-view.js';

const NAVIGATION: readonly {
  readonly label: string;
  readonly view: 'overview' | 'services' | 'history' | 'trace';
}[] = [
  { label: 'Overview', view: 'overview' },
  { label: 'Services', view: 'services' },
  { label: 'History', view: 'history' },
  { label: 'Trace', view: 'trace' },
];

const SECOND = 1_000;

/** The whole page: its head, and the view in the address. */
function Page(): JSX.Element {
  const route = useRoute();
  const { since } = useConnection();
  // Outside the overview, once for each connection: behind the next one may be another node.
  const status = usePolled<ProxyStatus>('debug/status', {
    period: route.view === 'overview' ? SECOND : Infinity,
    when: `${since}`,
  });
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
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [shown]);
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
          kube-proxy-ts{node && ` on ${node}`} <span class="host">{location.host}</span>
        </a>
        <nav aria-label="Views">
          {NAVIGATION.map(({ label, view }) => (
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
        <Connection />
      </header>
      <main id="main" class={`view ${route.view}`} tabIndex={-1} ref={main}>
        <View route={route} status={status} />
      </main>
    </>
  );
}

function View({
  route,
  status,
}: {
  readonly route: Route;
  readonly status: Polled<ProxyStatus>;
}): JSX.Element {
  switch (route.view) {
    case 'overview':
      return <OverviewView status={status} />;
    case 'services':
      return <ServicesView route={route} />;
    case 'service':
      return <ServiceView {...route} key={`${route.namespace}/${route.name}`} />;
    case 'history':
      return <HistoryView route={route} />;
    case 'trace':
      return <TraceView route={route} />;
  }
}

/** Whether the page is live, or since when it is not. */
function Connection(): JSX.Element {
  const { connected, since } = useConnection();
  return (
    <p class={`connection ${connected ? '' : 'bad'}`} role="status">
      <Mark kind={connected ? 'good' : 'bad'} />{' '}
      {connected ? (
        'live'
      ) : (
        <>
          disconnected since <time dateTime={new Date(since).toISOString()}>{clockTime(since)}</time>, trying
          again
        </>
      )}
    </p>
  );
}

render(<Page />, document.body);
