import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ServiceList } from '../../../../../application/status/service-row.js';
import { SERVICE_LIST } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { counted } from '../../parts/time.js';
import { Trouble } from '../../parts/trouble.js';
import type { Place, Show } from '../../place.js';
import { refine } from '../../use-place.js';
import { Search } from './search.js';
import { ServiceRows } from './service-rows.js';

type ServicesPlace = Extract<Place, { readonly view: 'services' }>;

/** Retries may change a state without any event. Milliseconds. */
const AT_LEAST_EVERY = 15_000;

const CHOICES: readonly (readonly [Show, label: string])[] = [
  ['all', 'All'],
  ['failing', 'Failing'],
  ['without-endpoints', 'Without endpoints'],
];

/** All Services, to search. */
export function ServicesView({ place }: { readonly place: ServicesPlace }): JSX.Element {
  const changes = useChanges();
  const { value, problem } = useFollowed<ServiceList>(SERVICE_LIST, {
    period: AT_LEAST_EVERY,
    when: changes,
  });
  const search = useMemo(() => value && new Search(value.services), [value]);
  const rows = useMemo(() => search?.matching(place.search, place.show), [search, place.search, place.show]);
  return (
    <>
      <div class="bar">
        <h1>Services</h1>
        <SearchField place={place} />
        <fieldset class="choice">
          <legend class="unseen">Which services</legend>
          {CHOICES.map(([show, label]) => (
            <label key={show}>
              <input
                type="radio"
                name="show"
                value={show}
                checked={place.show === show}
                onChange={() => refine({ ...place, show })}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <output class="count">{rows && value && countText(rows.length, value.services.length)}</output>
      </div>
      <Trouble problem={problem} what="list of services" />
      {rows && <ServiceRows rows={rows} />}
      {rows?.length === 0 && <p class="absent">No service matches.</p>}
      {!value && !problem && <p class="absent">Asking the proxy…</p>}
    </>
  );
}

function SearchField({ place }: { readonly place: ServicesPlace }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <label class="search">
      <span>
        Search <kbd>/</kbd>
      </span>
      <input
        type="search"
        ref={field}
        value={place.search}
        placeholder="name, address, port, type"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => refine({ ...place, search: currentTarget.value })}
      />
    </label>
  );
}

function countText(shown: number, all: number): string {
  return shown === all
    ? counted(all, 'service')
    : `${shown.toLocaleString('en')} of ${counted(all, 'service')}`;
}
