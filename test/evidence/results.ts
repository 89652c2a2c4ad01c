/** Stored results of tests on other systems, and the support matrix that is made from them. */

import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { CHECKS, type CheckName } from '../kernels/checks.js';

/** Where a check ran. */
export interface System {
  /** Of the cluster; missing: the proxy ran without one, or with a stand-in for its API server. */
  readonly kubernetes?: string;
  readonly kernel: string;
  readonly architecture: string;
  readonly mode: string;
}

export interface TestResult {
  readonly name: string;
  readonly milliseconds?: number;
  readonly error?: string;
}

/** The result of a check that came to its end. */
export interface CheckResult {
  /** The day, in UTC. */
  readonly date: string;
  readonly passed: number;
  readonly failed: number;
  /** Of a fuzz: its seed, and its duration. */
  readonly seed?: number;
  readonly minutes?: number;
  /** Missing for a fuzz, and in the first results of kernels, of which only the numbers were stored. */
  readonly tests?: readonly TestResult[];
}

/** The columns of the matrix after the system. */
const COLUMNS = { endToEnd: 'End-to-end tests', ...CHECKS } as const;

export type ColumnName = 'endToEnd' | CheckName;

type Results = Readonly<Partial<Record<ColumnName, CheckResult>>>;

/** A file of `docs/evidence/results`. */
interface StoredResults {
  readonly system: System;
  readonly results: Results;
}

const FOLDER = new URL('../../docs/evidence/results/', import.meta.url);
const PAGE = new URL('../../docs/evidence/README.md', import.meta.url);
const MARK = /^<!-- matrix(?: end)? -->\n/m;
const NOT_RUN = '–';

/** The results of tests, of which at least one ran. */
export function checkResult(tests: readonly TestResult[]): CheckResult {
  const failed = tests.filter(({ error }) => error !== undefined).length;
  return { date: today(), passed: tests.length - failed, failed, tests };
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Stores results of a system, beside those that it has of other checks, and writes the matrix. */
export async function storeResults(system: System, results: Results): Promise<void> {
  const file = new URL(fileOf(system), FOLDER);
  const stored = existsSync(file) ? (await readStored(file)).results : {};
  const all: StoredResults = { system, results: { ...stored, ...results } };
  await writeFile(file, `${JSON.stringify(all, undefined, 2)}\n`);
  const [before, , after] = (await readFile(PAGE, 'utf8')).split(MARK);
  await writeFile(PAGE, `${before}<!-- matrix -->\n${await supportMatrix()}<!-- matrix end -->\n${after}`);
}

/** The lines of the matrix, by the stored results. */
export async function supportMatrix(): Promise<string> {
  const files = (await readdir(FOLDER)).sort((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
  const rows = await Promise.all(
    files.map(async (file) => rowOf(file, await readStored(new URL(file, FOLDER)))),
  );
  const names = ['Kubernetes', 'Kernel', 'Architecture', 'Mode', ...Object.values(COLUMNS), 'Last run'];
  return [names, names.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

async function readStored(file: URL): Promise<StoredResults> {
  return JSON.parse(await readFile(file, 'utf8')) as StoredResults;
}

function rowOf(file: string, { system, results }: StoredResults): readonly string[] {
  const { kubernetes = NOT_RUN, kernel, architecture, mode } = system;
  const cells = (Object.keys(COLUMNS) as ColumnName[]).map((name) => {
    const result = results[name];
    return result ? `[${cellText(result)}](results/${file})` : NOT_RUN;
  });
  const dates = Object.values(results).map(({ date }) => date);
  return [kubernetes, kernel, architecture, mode, ...cells, dates.sort().at(-1)!];
}

function cellText({ passed, failed, minutes }: CheckResult): string {
  if (failed > 0) return minutes === undefined ? `failed: ${failed} of ${passed + failed}` : 'failed';
  return minutes === undefined ? `${passed}` : `${minutes} min`;
}

function fileOf({ kubernetes, kernel, architecture, mode }: System): string {
  const cluster = kubernetes === undefined ? '' : `-kubernetes-${kubernetes}`;
  return `linux-${kernel}-${architecture}${cluster}-${mode}.json`;
}
