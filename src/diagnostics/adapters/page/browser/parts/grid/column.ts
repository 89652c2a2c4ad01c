import type { ComponentChildren } from 'preact';

/** A column of a grid; its name is its class in page.css. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  /** What it says, in plain text. */
  readonly text: (row: Row) => string;
  /** How it is shown, if not as that text. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** What is told of it to a pointer that rests there, if not that text. */
  readonly tip?: (row: Row) => string | undefined;
}

/** By which column rows are sorted. */
export interface Sort {
  readonly by: string;
  readonly isDescending: boolean;
}

/** The order that the title of a column leads to: up, down, and back to the order in which the rows came. */
export function nextSort(sort: Sort | undefined, by: string): Sort | undefined {
  if (sort?.by !== by) return { by, isDescending: false };
  return sort.isDescending ? undefined : { by, isDescending: true };
}
