import { duration, megabytes } from '../report.js';
import { median } from '../statistics.js';
import type { Stored } from '../stored-results.js';

/** Milliseconds or bytes; null if it took longer than the limit, undefined if it was not measured. */
type Figure = number | null | undefined;

/** One run of a program. */
export interface Run {
  /** From the start of the process until connections to all Services are possible. */
  readonly start: Figure;
  /** Of the process and its children, until then. */
  readonly peak?: Figure;
  readonly processor?: Figure;
  /** From a start with nothing changed until /healthz responds with 200. */
  readonly healthy?: Figure;
  /** From that start until a connection reaches an endpoint that is new since /healthz responded. */
  readonly restart?: Figure;
  /** Transactions of nf_tables from that start until then. */
  readonly transactions?: Figure;
  /** From the event to a connection that reaches the new endpoint, for each further change. */
  readonly changes: readonly Figure[];
}

/** A program, and the medians of its runs. */
interface Result extends Omit<Run, 'changes'> {
  readonly name: string;
  /** What it prints as its version. */
  readonly version: string;
  readonly changeP50?: Figure;
  readonly changeLongest?: Figure;
  /** How many were measured. */
  readonly changes: number;
}

/** Two programs, measured in turn on the same machine. */
export interface Comparison {
  readonly mode: string;
  readonly services: number;
  readonly endpoints: number;
  readonly limitSeconds: number;
  readonly programs: readonly Result[];
}

/** The medians of the runs of a program, and those of their changes together. */
export function summarize(name: string, version: string, runs: readonly Run[]): Result {
  const medianOf = (figure: (run: Run) => Figure): Figure => orNull(runs.map(figure), median);
  const changes = runs.flatMap((run) => run.changes);
  return {
    name,
    version,
    start: medianOf(({ start }) => start),
    peak: medianOf(({ peak }) => peak),
    processor: medianOf(({ processor }) => processor),
    healthy: medianOf(({ healthy }) => healthy),
    restart: medianOf(({ restart }) => restart),
    transactions: medianOf(({ transactions }) => transactions),
    changeP50: orNull(changes, median),
    changeLongest: orNull(changes, (numbers) => Math.max(...numbers)),
    changes: changes.length,
  };
}

/** What took longer than the limit is larger than every number. Undefined if a run lacks the figure. */
function orNull(figures: readonly Figure[], statistic: (numbers: readonly number[]) => number): Figure {
  if (figures.length === 0 || figures.includes(undefined)) return undefined;
  const number = statistic(figures.map((figure) => figure ?? Infinity));
  return number === Infinity ? null : number;
}

/** The circumstances, and a table in Markdown. */
export function comparisonTable(comparison: Stored<Comparison>): string {
  const { mode, services, endpoints, limitSeconds, programs, measured } = comparison;
  const { date, node, linux, processors, load, runs } = measured;
  const time = (figure: Figure): string =>
    figure === null ? `more than ${limitSeconds} s` : duration(figure);
  const row = (title: string, cell: (program: Result) => string): readonly string[] => [
    title,
    ...programs.map(cell),
  ];
  const lines = [
    row('', ({ name, version }) => `${name} (${version})`),
    row('---', () => '--:'),
    row('start of process to all Services', ({ start }) => time(start)),
    row('peak memory until then', ({ peak }) => (peak == null ? '–' : megabytes(peak))),
    row('processor time until then', ({ processor }) => time(processor)),
    row('restart, nothing changed, to `/healthz` 200', ({ healthy }) => time(healthy)),
    row('restart to the first change in the kernel', ({ restart }) => time(restart)),
    row('nf_tables transactions until then', ({ transactions }) => String(transactions ?? '–')),
    row('one endpoint replaced, p50', ({ changeP50 }) => time(changeP50)),
    row('longest of all changes', ({ changeLongest, changes }) =>
      changes === 0 ? '–' : `${time(changeLongest)} (of ${changes})`,
    ),
  ];
  return [
    `${mode}: ${services.toLocaleString('en')} Services of ${endpoints} endpoints, medians of ${runs} run${runs === 1 ? '' : 's'}.`,
    `Linux ${linux}, ${processors}, load ${load}, Node ${node}, ${date}.`,
    '',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}
