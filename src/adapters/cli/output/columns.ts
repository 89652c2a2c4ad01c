/** Two spaces, as kubectl has three: lines stay short. */
const GAP = '  ';

/** Rows as aligned columns below their headers, a line each. The last column is not padded. */
export function columns(headers: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [headers, ...rows];
  const widths = headers.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, line[index]!.length), 0),
  );
  const padded = (cell: string, index: number): string => cell.padEnd(widths[index]!);
  return lines.map((line) => line.map(padded).join(GAP).trimEnd());
}
