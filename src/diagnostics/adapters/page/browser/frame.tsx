import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ProxyStatus } from '../../../application/status/proxy-status.js';
import type { Followed } from './asking/use-followed.js';
import { ConnectionLine } from './parts/connection-line.js';
import { hrefOf, type Place } from './place.js';
import { usePlace } from './use-place.js';
import { useStatus } from './use-status.js';
import { HistoryView } from './views/history/history-view.js';
import { OverviewView } from './views/overview/overview-view.js';
import { ServiceView } from './views/service/service-view.js';
import { ServicesView } from './views/services/services-view.js';
import { TraceView } from './views/trace/trace-view.js';

const ENTRIES: readonly {
  readonly label: string;
  readonly place: Place;
  readonly views: readonly string[];
}[] = [
  { label: 'Overview', place: { view: 'overview' }, views: ['overview'] },
  { label: 'Services', place: { view: 'services', search: '', show: 'all' }, views: ['services', 'service'] },
  { label: 'History', place: { view: 'history', search: '', failing: false }, views: ['history'] },
  { label: 'Trace', place: { view: 'trace', from: '', to: '', kernel: false }, views: ['trace'] },
];

/** The whole page: its head, and the view that the address names. */
export function Frame(): JSX.Element {
  const place = usePlace();
  const status = useStatus(place.view === 'overview');
  const node = status.value?.node;
  const main = useRef<HTMLElement>(null);
  useTitle(place, node);
  useArrival(place, main);
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
          {ENTRIES.map(({ label, place: target, views }) => (
            <a
              key={label}
              href={hrefOf(target)}
              {...(views.includes(place.view) && { 'aria-current': 'page' as const })}
            >
              {label}
            </a>
          ))}
        </nav>
        <ConnectionLine />
      </header>
      <main id="main" class={`view ${place.view}`} tabIndex={-1} ref={main}>
        <View place={place} status={status} />
      </main>
    </>
  );
}

function View({
  place,
  status,
}: {
  readonly place: Place;
  readonly status: Followed<ProxyStatus>;
}): JSX.Element {
  switch (place.view) {
    case 'overview':
      return <OverviewView status={status} />;
    case 'services':
      return <ServicesView place={place} />;
    case 'service':
      return <ServiceView {...place} key={`${place.namespace}/${place.name}`} />;
    case 'history':
      return <HistoryView place={place} />;
    case 'trace':
      return <TraceView place={place} />;
  }
}

/** What is shown, in a word or two. */
function nameOf(place: Place): string {
  return place.view === 'service' ? `${place.namespace}/${place.name}` : place.view;
}

/** The title of the window says what is shown, and of which node. */
function useTitle(place: Place, node: string | undefined): void {
  const title = [nameOf(place), node, 'kube-proxy-ts'].filter(Boolean).join(' – ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** A new view gets the focus, so that the next tab is in it and a screen reader reads it. */
function useArrival(place: Place, main: { readonly current: HTMLElement | null }): void {
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [nameOf(place)]);
}
