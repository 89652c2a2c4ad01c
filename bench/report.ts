/** Measured inside one process. Milliseconds. A missing figure was not measured. */
export interface InProcessResult {
  /** Raw objects read, validated and stored in the proxy's memory. */
  readonly read?: number;
  /** From then, with all lists complete, to committed in the kernel. */
  readonly firstSync?: number;
  /** One endpoint replaced, from the event to the kernel's acknowledgement. */
  readonly changeP50?: number;
  readonly changeP99?: number;
  /** 1,000 endpoint changes delivered at once, until all are committed. */
  readonly burst?: number;
}

/** The time that the host's iptables-restore needs by itself for the proxy's input. Milliseconds. */
export interface ToolTimes {
  readonly firstSync: number;
  readonly changeP50: number;
  readonly burst: number;
}

/** Peak memory of the proxy and the tools that it starts. Bytes. */
export interface PeakMemory {
  /** From the start of the process until everything is committed. */
  readonly start: number;
  /** Of the process in which single changes are measured. */
  readonly changes: number;
  /** At a restart with nothing changed. */
  readonly restart: number;
}

export interface Measurement {
  readonly services: number;
  readonly endpoints: number;
  readonly inProcess: InProcessResult;
  /** Mode iptables only. */
  readonly tool?: ToolTimes;
  /** Start of the process until manifests are read and committed. Milliseconds. */
  readonly start: number;
  /** The same for a restart with nothing changed. */
  readonly restart: number;
  /** nf_tables transactions during that restart; runs of iptables-restore in mode iptables. */
  readonly restartWrites: number;
  readonly peak: PeakMemory;
}

type Column = readonly [title: string, cell: (row: Measurement) => string];

const columns: readonly Column[] = [
  ['services × endpoints', (row) => `${row.services.toLocaleString('en')} × ${row.endpoints}`],
  ['objects read', (row) => duration(row.inProcess.read)],
  [
    'objects in memory to committed in the kernel',
    (row) => withTool(row.inProcess.firstSync, row.tool?.firstSync),
  ],
  ['start of process to committed', (row) => duration(row.start)],
  ['one endpoint replaced, p50', (row) => withTool(row.inProcess.changeP50, row.tool?.changeP50)],
  ['p99', (row) => duration(row.inProcess.changeP99)],
  ['1,000 changes in a burst', (row) => withTool(row.inProcess.burst, row.tool?.burst)],
  ['restart, nothing changed', (row) => `${duration(row.restart)}, ${row.restartWrites} writes`],
  ['peak memory: start, changes, restart', ({ peak }) => megabytes(peak.start, peak.changes, peak.restart)],
];

/** A table in Markdown, one row for each measurement of one mode. */
export function table(rows: readonly Measurement[]): string {
  const lines = [
    columns.map(([title]) => title),
    columns.map((_, index) => (index === 0 ? '---' : '--:')),
    ...rows.map((row) => columns.map(([, cell]) => cell(row))),
  ];
  const text = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const hasTool = rows.some(({ tool }) => tool !== undefined);
  return hasTool ? `${text}\n\nIn brackets: iptables-restore by itself, on the same input.` : text;
}

function withTool(milliseconds: number | undefined, tool: number | undefined): string {
  return tool === undefined ? duration(milliseconds) : `${duration(milliseconds)} (${duration(tool)})`;
}

export function megabytes(...bytes: readonly number[]): string {
  return `${bytes.map((each) => Math.round(each / 1e6)).join(', ')} MB`;
}

export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '–';
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(2)} ms`;
}
