/** The rows of a long list that stand in the document: from `first` up to, not including, `end`. */
export interface VisibleRows {
  readonly first: number;
  readonly end: number;
}

/** More rows above and below what can be seen, so that scrolling finds them there. */
const SPARE = 8;

/** Which rows to have at this position. Lengths in pixels. */
export function visibleRows(top: number, height: number, rowHeight: number, count: number): VisibleRows {
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE);
  return { first: Math.min(first, end), end };
}

/** The position that shows a row with the least scrolling. */
export function scrolledTo(row: number, top: number, height: number, rowHeight: number): number {
  const start = row * rowHeight;
  if (start < top) return start;
  return Math.max(top, start + rowHeight - height);
}

/** The row that a key leads to; undefined for keys that lead nowhere. */
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
