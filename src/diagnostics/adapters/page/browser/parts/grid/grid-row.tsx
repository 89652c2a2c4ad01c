import type { JSX } from 'preact';
import type { Column } from './column.js';

interface GridRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly id: string;
  readonly index: number;
  /** Pixels. */
  readonly top: number;
  readonly isChosen: boolean;
  readonly onClick: () => void;
}

/** One row of a grid, at its place. */
export function GridRow<Row>(props: GridRowProps<Row>): JSX.Element {
  const { row, columns, id, index, top, isChosen, onClick } = props;
  return (
    <div
      class="row"
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
    >
      {columns.map(({ name, title, text, cell = text, tip = text }) => (
        <span key={title} class={name} role="gridcell" title={tip(row)}>
          {cell(row)}
        </span>
      ))}
    </div>
  );
}
