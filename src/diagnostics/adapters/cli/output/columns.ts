import { visibleLength } from './tones.js';

/** Two spaces, as kubectl has three: lines stay short. */
const GAP = '  ';

/** Rows as aligned columns below their headers, a line each. The last column is not padded. */
export function columns(headers: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [headers, ...rows];
  const widths = headers.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, visibleLength(line[index]!)), 0),
  );
  const padded = (cell: string, index: number): string =>
    cell + ' '.repeat(widths[index]! - visibleLength(cell));
  return lines.map((line) => line.map(padded).join(GAP).trimEnd());
}
