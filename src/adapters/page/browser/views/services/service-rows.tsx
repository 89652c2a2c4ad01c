import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServiceRow } from '../../../../../application/status/service-row.js';
import { go } from '../../use-place.js';
import { hrefOf, type Place } from '../../place.js';
import { Mark } from '../../parts/mark.js';
import { useSize } from '../../parts/use-size.js';
import { COLUMNS, markOfRow } from './columns.js';
import { rowAfter, scrolledTo, visibleRows } from './visible-rows.js';

/** Pixels, as in page.css. */
const ROW_HEIGHT = 34;
const NARROW_ROW_HEIGHT = 60;
const NARROW = '(max-width: 44rem)';

/**
 * A table of any length, of which only the rows that can be seen are in the document. It is one stop of the tab key; the arrow
 * keys choose a row, Enter opens it.
 */
export function ServiceRows({ rows }: { readonly rows: readonly ServiceRow[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  const [chosen, setChosen] = useState(0);
  const rowHeight = useRowHeight();
  const row = Math.max(0, Math.min(chosen, rows.length - 1));

  const measure = ({ scrollTop, clientHeight }: HTMLElement): void =>
    setView({ top: scrollTop, height: clientHeight });
  useSize(box, measure);

  const choose = (next: number): void => {
    setChosen(next);
    const element = box.current!;
    element.scrollTop = scrolledTo(next, element.scrollTop, element.clientHeight - HEAD_HEIGHT, rowHeight);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (rows.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter') return go(placeOfRow(rows[row]!));
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const next = rowAfter(event.key, row, rows.length, page);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  };

  const { first, end } = visibleRows(view.top, view.height, rowHeight, rows.length);
  const chosenIsHere = row >= first && row < end;
  return (
    <div
      class="rows"
      role="grid"
      aria-label="Services"
      aria-rowcount={rows.length + 1}
      aria-colcount={COLUMNS.length}
      tabIndex={0}
      ref={box}
      {...(chosenIsHere && { 'aria-activedescendant': `row-${row}` })}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => measure(currentTarget)}
    >
      <div class="row titles" role="row" aria-rowindex={1}>
        {COLUMNS.map(({ title, name }) => (
          <span key={name} class={name} role="columnheader">
            {title}
          </span>
        ))}
      </div>
      <div class="all" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, end).map((service, place) => (
          <Row
            key={`${service.namespace}/${service.name}`}
            service={service}
            index={first + place}
            top={(first + place) * rowHeight}
            isChosen={first + place === row}
            choose={setChosen}
          />
        ))}
      </div>
    </div>
  );
}

/** The titles stay at the top, over the rows. */
const HEAD_HEIGHT = 30;

interface RowProps {
  readonly service: ServiceRow;
  readonly index: number;
  readonly top: number;
  readonly isChosen: boolean;
  readonly choose: (index: number) => void;
}

function Row({ service, index, top, isChosen, choose }: RowProps): JSX.Element {
  return (
    <div
      class="row"
      role="row"
      id={`row-${index}`}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => {
        choose(index);
        go(placeOfRow(service));
      }}
    >
      {COLUMNS.map(({ name, text }) => (
        <span
          key={name}
          class={name}
          role="gridcell"
          title={name === 'state' ? service.reason : text(service)}
        >
          {name === 'name' && (
            <a href={hrefOf(placeOfRow(service))} tabIndex={-1}>
              <span class="namespace">{service.namespace}/</span>
              {service.name}
            </a>
          )}
          {name === 'state' && <Mark kind={markOfRow(service)} />} {name !== 'name' && text(service)}
        </span>
      ))}
    </div>
  );
}

function placeOfRow({ namespace, name }: ServiceRow): Place {
  return { view: 'service', namespace, name };
}

function useRowHeight(): number {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const follow = (): void => setNarrow(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return narrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
}
