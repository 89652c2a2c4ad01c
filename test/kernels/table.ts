import { readFile, writeFile } from 'node:fs/promises';
import { CHECKS, type CheckName } from './checks.js';

const PAGE = new URL('../../docs/evidence/README.md', import.meta.url);
const MARK = /^<!-- kernels(?: end)? -->\n/m;
const NOT_RUN = '–';
const KERNEL = 'Kernel';
const MODE = 'Mode';
const DATE = 'Date';

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Stores results of a mode on a kernel in the table of docs/evidence/README.md. Cells of checks that did not run stay as they are. */
export async function storeResults(
  version: string,
  mode: string,
  results: Readonly<Partial<Record<CheckName, string>>>,
): Promise<void> {
  const [before, table, after] = (await readFile(PAGE, 'utf8')).split(MARK) as [string, string, string];
  const [header = [], , ...stored] = table.trim().split('\n').map(cellsOf);
  const rows = stored.map((cells) => new Map(header.map((name, place) => [name, cells[place] ?? NOT_RUN])));
  let row = rows.find((each) => each.get(KERNEL) === version && each.get(MODE) === mode);
  if (!row) {
    row = new Map(Object.entries({ [KERNEL]: version, [MODE]: mode }));
    rows.push(row);
  }
  for (const [name, cell] of Object.entries(results)) row.set(CHECKS[name as CheckName], cell);
  row.set(DATE, new Date().toISOString().slice(0, 10));

  const names = [KERNEL, MODE, ...Object.values(CHECKS), DATE];
  const sorted = rows
    .map((each) => names.map((name) => each.get(name) ?? NOT_RUN))
    .sort((one, other) => one.join(' ').localeCompare(other.join(' '), 'en', { numeric: true }));
  const lines = [names, names.map(() => '---'), ...sorted];
  const text = lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
  await writeFile(PAGE, `${before}<!-- kernels -->\n${text}<!-- kernels end -->\n${after}`);
}
