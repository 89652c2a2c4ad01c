import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Place } from '../../place.js';
import { go } from '../../use-place.js';
import { useSize } from '../use-size.js';
import { nextSort, type Column, type Sort } from './column.js';
import { GridRow } from './grid-row.js';
import { useRowHeight } from './use-row-height.js';
import { rowAfter, scrolledTo, visibleRows } from './visible-rows.js';

interface GridProps<Row> {
  /** Its id. */
  readonly name: string;
  /** Its class in page.css; missing: its name. */
  readonly kind?: string;
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Where a row leads to. */
  readonly placeOf?: (row: Row) => Place | undefined;
  /** Rows that are seen at once at most; all that there is room for, if missing. */
  readonly most?: number;
  readonly sort?: Sort | undefined;
  /** Called by the titles; missing: nobody chooses the order. */
  readonly onSort?: (sort: Sort | undefined) => void;
}

/** Around the rows, in pixels: as in page.css. */
const HEAD_HEIGHT = 30;
const BORDERS = 2;

/**
 * A table of any length, of which only the rows that can be seen are in the document. Its rows are one stop of the tab key; the
 * arrow keys choose one, and before the first one go back to the field that searches it; Enter opens it.
 */
export function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const { name, kind = name, label, rows, columns, keyOf, placeOf, most, sort, onSort } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  const [chosen, setChosen] = useState(0);
  const rowHeight = useRowHeight();
  const index = Math.max(0, Math.min(chosen, rows.length - 1));

  const measure = ({ scrollTop, clientHeight }: HTMLElement): void =>
    setView({ top: scrollTop, height: clientHeight });
  useSize(box, measure);

  const open = (row: Row): void => {
    const place = placeOf?.(row);
    if (place) go(place);
  };
  const choose = (next: number): void => {
    setChosen(next);
    const element = box.current!;
    element.scrollTop = scrolledTo(next, element.scrollTop, element.clientHeight - HEAD_HEIGHT, rowHeight);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'ArrowUp' && index === 0) return searchFieldOf(name)?.focus();
    if (rows.length === 0) return;
    if (event.key === 'Enter') return open(rows[index]!);
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const next = rowAfter(event.key, index, rows.length, page);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  };

  const { first, end } = visibleRows(view.top, view.height, rowHeight, rows.length);
  const chosenIsHere = index >= first && index < end;
  return (
    <div
      class={`rows ${kind}`}
      role="grid"
      id={name}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      ref={box}
      {...(chosenIsHere && { 'aria-activedescendant': `${name}-${index}` })}
      {...(most && {
        style: { height: `${HEAD_HEIGHT + BORDERS + Math.min(most, rows.length) * rowHeight}px` },
      })}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => measure(currentTarget)}
    >
      <Titles columns={columns} sort={sort} onSort={onSort} />
      <div class="all" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, end).map((row, place) => (
          <GridRow
            key={keyOf(row)}
            row={row}
            columns={columns}
            id={`${name}-${first + place}`}
            index={first + place}
            top={(first + place) * rowHeight}
            isChosen={first + place === index}
            onClick={() => {
              setChosen(first + place);
              open(row);
            }}
          />
        ))}
      </div>
    </div>
  );
}

/** The titles stay at the top, over the rows. */
function Titles<Row>({
  columns,
  sort,
  onSort,
}: Pick<GridProps<Row>, 'columns' | 'sort' | 'onSort'>): JSX.Element {
  return (
    <div class="row titles" role="row" aria-rowindex={1}>
      {columns.map(({ title, name }) => {
        const direction = sort?.by !== name ? 'none' : sort.isDescending ? 'descending' : 'ascending';
        return (
          <span key={title} class={name} role="columnheader" {...(onSort && { 'aria-sort': direction })}>
            {onSort ? (
              <button type="button" onClick={() => onSort(nextSort(sort, name))}>
                {title}
              </button>
            ) : (
              title
            )}
          </span>
        );
      })}
    </div>
  );
}

function searchFieldOf(grid: string): HTMLElement | null {
  return document.querySelector(`[data-searches="${grid}"]`);
}
