import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSize } from './parts.js';
import { navigate, type Route } from './routing.js';

/** A column of a table; its name is its class in page.css. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Shown instead of the text. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** Shown to a pointer over the cell, instead of the text. */
  readonly tip?: (row: Row) => string | undefined;
}

/** A short table, with its texts in full. It scrolls where it is too wide. */
export function Table<Row>(props: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}): JSX.Element {
  const { columns, rows } = props;
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            {columns.map(({ name, title }) => (
              <th key={title} scope="col" class={name}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map(({ name, title, text, cell = text }) => (
                <td key={title} class={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface GridProps<Row> {
  /** Its id. */
  readonly name: string;
  /** Its class in page.css; missing: its name. */
  readonly kind?: string;
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The view that a row opens. */
  readonly routeOf?: (row: Row) => Route | undefined;
  /** Visible rows at most; missing: as many as fit. */
  readonly most?: number;
  /** The name of a column, after `-` in descending order. */
  readonly sort?: string;
  /** Called by the titles; missing: the order is fixed. */
  readonly onSort?: (sort: string) => void;
}

/** Pixels, as in page.css. */
const HEAD_HEIGHT = 30;
/** Rows above and below the visible ones, so that scrolling finds them in the document. */
const SPARE = 8;

/**
 * A table of any length, of which only the visible rows are in the document. The tab key stops at it once; the arrow keys select a row
 * or, before the first one, return to the search field; Enter opens the row.
 */
export function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const { name, kind = name, label, rows, columns, keyOf, routeOf, most, sort, onSort } = props;
  const box = useRef<HTMLDivElement>(null);
  const [{ top, height, rowHeight }, setSize] = useState({ top: 0, height: 0, rowHeight: 1 });
  const [selection, setSelection] = useState(0);
  const selected = Math.max(0, Math.min(selection, rows.length - 1));

  const measure = (element: HTMLElement): void =>
    setSize({
      top: element.scrollTop,
      height: element.clientHeight,
      rowHeight: parseFloat(getComputedStyle(element).getPropertyValue('--row-height')),
    });
  useSize(box, measure);

  const open = (row: Row): void => {
    const route = routeOf?.(row);
    if (route) navigate(route);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'ArrowUp' && selected === 0)
      return document.querySelector<HTMLElement>(`[data-searches="${name}"]`)?.focus();
    if (rows.length === 0) return;
    if (event.key === 'Enter') return open(rows[selected]!);
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const next = rowAfter(event.key, selected, rows.length, page);
    if (next === undefined) return;
    event.preventDefault();
    setSelection(next);
    const element = box.current!;
    element.scrollTop = scrolledTo(next, element.scrollTop, height - HEAD_HEIGHT, rowHeight);
  };

  const { first, end } = visibleRows(top, height, rowHeight, rows.length);
  return (
    <div
      class={`rows ${kind} ${most === undefined ? '' : 'limited'}`}
      role="grid"
      id={name}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      ref={box}
      style={{ '--shown': Math.min(most ?? 0, rows.length), '--all': rows.length }}
      {...(selected >= first && selected < end && { 'aria-activedescendant': `${name}-${selected}` })}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => measure(currentTarget)}
    >
      <Titles columns={columns} sort={sort} onSort={onSort} />
      <div class="all" role="rowgroup">
        {rows.slice(first, end).map((row, offset) => {
          const index = first + offset;
          return (
            <div
              key={keyOf(row)}
              class="row"
              role="row"
              id={`${name}-${index}`}
              aria-rowindex={index + 2}
              aria-selected={index === selected}
              style={{ transform: `translateY(${index * rowHeight}px)` }}
              onClick={() => {
                setSelection(index);
                open(row);
              }}
            >
              {columns.map(({ name: column, title, text, cell = text, tip = text }) => (
                <span key={title} class={column} role="gridcell" title={tip(row)}>
                  {cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The titles stay at the top, over the rows. */
function Titles<Row>({
  columns,
  sort,
  onSort,
}: Pick<GridProps<Row>, 'columns'> & {
  readonly sort: string | undefined;
  readonly onSort: GridProps<Row>['onSort'] | undefined;
}): JSX.Element {
  return (
    <div class="row titles" role="row" aria-rowindex={1}>
      {columns.map(({ title, name }) => {
        const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
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

/** The order after a click on the title of a column: ascending, descending, and back to the order of the rows. */
export function nextSort(sort: string | undefined, by: string): string {
  if (sort === by) return `-${by}`;
  return sort === `-${by}` ? '' : by;
}

/** The rows to have in the document: from `first` up to, not including, `end`. Lengths in pixels. */
export function visibleRows(
  top: number,
  height: number,
  rowHeight: number,
  count: number,
): { readonly first: number; readonly end: number } {
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE);
  return { first: Math.max(0, Math.min(end, Math.floor(top / rowHeight) - SPARE)), end };
}

/** The scroll position that shows a row with the least scrolling. */
export function scrolledTo(row: number, top: number, height: number, rowHeight: number): number {
  const start = row * rowHeight;
  if (start < top) return start;
  return Math.max(top, start + rowHeight - height);
}

/** The row that a key selects; undefined for other keys. */
export function rowAfter(key: string, row: number, count: number, page: number): number | undefined {
  const target = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  }[key];
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

/** The field that searches a grid. `/` selects it from anywhere on the page; the down arrow and Enter move to the rows. */
export function SearchField(props: {
  readonly text: string;
  /** What can be searched for. */
  readonly placeholder: string;
  /** The name of the grid that it searches. */
  readonly grid: string;
  readonly onText: (text: string) => void;
}): JSX.Element {
  const { text, placeholder, grid, onText } = props;
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
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
    event.preventDefault();
    document.getElementById(grid)?.focus();
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
        placeholder={placeholder}
        data-searches={grid}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  );
}
