import { readFile, writeFile } from 'node:fs/promises';
import { CHECKS, type CheckName } from './checks.js';

const PAGE = new URL('../../docs/seen-on.md', import.meta.url);
const MARK = /^<!-- kernels(?: end)? -->\n/m;
const NOT_RUN = '–';

/** Stores results of a mode on a kernel in the table of docs/seen-on.md. Cells of checks that did not run stay as they are. */
export async function storeResults(
  version: string,
  mode: string,
  results: Readonly<Partial<Record<CheckName, string>>>,
): Promise<void> {
  const [before, table, after] = (await readFile(PAGE, 'utf8')).split(MARK) as [string, string, string];
  const names = Object.keys(CHECKS) as CheckName[];
  const rows = new Map(
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, kernel, ...cells]) => [`${kernel} ${cells[0]}`, [kernel!, ...cells.slice(0, -1)]]),
  );
  const stored = rows.get(`${version} ${mode}`)?.slice(2);
  const cells = names.map((name, place) => results[name] ?? stored?.[place] ?? NOT_RUN);
  rows.set(`${version} ${mode}`, [version, mode, ...cells, new Date().toISOString().slice(0, 10)]);
  const sorted = [...rows].sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }));
  const header = ['Kernel', 'Mode', ...Object.values(CHECKS), 'Date'];
  const lines = [header, header.map(() => '---'), ...sorted.map(([, row]) => row)];
  const text = lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
  await writeFile(PAGE, `${before}<!-- kernels -->\n${text}<!-- kernels end -->\n${after}`);
}
