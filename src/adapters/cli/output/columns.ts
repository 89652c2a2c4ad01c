/** Two spaces, as kubectl has three: lines stay short. */
const GAP = '  ';

/** Rows as aligned columns below their headers, one line each with its end. The last column is not padded. */
export function columns(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headers, ...rows];
  const widths = headers.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, line[index]!.length), 0),
  );
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join(GAP)
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
