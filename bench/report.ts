/** Measured inside one process. Milliseconds. A figure that is missing was not measured. */
export interface InProcessResult {
  /** Raw objects read, validated and taken into the proxy's memory. */
  readonly read?: number;
  /** From there, all lists being complete, to committed in the kernel. */
  readonly firstSync?: number;
  /** One endpoint replaced, from the event to the kernel's acknowledgement. */
  readonly changeP50?: number;
  readonly changeP99?: number;
  /** 1,000 endpoint changes delivered at once, until all are committed. */
  readonly burst?: number;
}

export interface Measurement {
  readonly services: number;
  readonly endpoints: number;
  readonly inProcess: InProcessResult;
  /** Start of the process to its end with `--once`: manifests read and committed. Milliseconds. */
  readonly start: number;
  /** The same again, with nothing changed. */
  readonly restart: number;
  /** nf_tables transactions during that restart; runs of iptables-restore in mode iptables. */
  readonly restartWrites: number;
  /** iptables-restore by itself, on what the proxy gave it at its start. Milliseconds. Mode iptables only. */
  readonly toolAlone?: number;
  readonly peakBytes: number;
}

type Column = readonly [title: string, cell: (row: Measurement) => string];

const toolAlone: Column = [
  'of that iptables-restore by itself, same input',
  (row) => duration(row.toolAlone),
];

const allColumns: readonly Column[] = [
  ['services × endpoints', (row) => `${row.services.toLocaleString('en')} × ${row.endpoints}`],
  ['objects read', (row) => duration(row.inProcess.read)],
  ['objects in memory to committed in the kernel', (row) => duration(row.inProcess.firstSync)],
  toolAlone,
  ['start of process to committed', (row) => duration(row.start)],
  ['one endpoint replaced, p50', (row) => duration(row.inProcess.changeP50)],
  ['p99', (row) => duration(row.inProcess.changeP99)],
  ['1,000 changes in a burst', (row) => duration(row.inProcess.burst)],
  ['restart, nothing changed', (row) => `${duration(row.restart)}, ${row.restartWrites} writes`],
  ['peak memory', (row) => `${Math.round(row.peakBytes / 1e6)} MB`],
];

/** A table in Markdown, one row for each measurement of one mode. */
export function table(rows: readonly Measurement[]): string {
  const withTool = rows.some((row) => row.toolAlone !== undefined);
  const columns = allColumns.filter((column) => withTool || column !== toolAlone);
  const lines = [
    columns.map(([title]) => title),
    columns.map((_, index) => (index === 0 ? '---' : '--:')),
    ...rows.map((row) => columns.map(([, cell]) => cell(row))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '–';
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(2)} ms`;
}
