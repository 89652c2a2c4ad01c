import type { Measurement } from './report.js';

/** What was measured of kube-proxy 1.36 on the same machine, by the number of services of 5 endpoints. */
const KUBE_PROXY: Readonly<
  Record<number, { readonly firstSync: string; readonly change: string; readonly peak?: string }>
> = {
  3_000: { firstSync: '1.2 s', change: '0.57 s' },
  10_000: { firstSync: '13–15 s', change: '3.6 s', peak: '390 MB' },
};

/** The lines of the table of mode nftables in docs/evidence/performance.md. */
export function nftablesLines(rows: readonly Measurement[]): readonly string[] {
  const sizes = [
    ...new Set([...rows.map(({ services }) => services), ...Object.keys(KUBE_PROXY).map(Number)]),
  ];
  return sizes
    .sort((one, other) => one - other)
    .map((services) => {
      const row = rows.find((one) => one.services === services);
      const reference = KUBE_PROXY[services];
      const peak = row && megabytes(Math.max(row.peak.start, row.peak.changes, row.peak.restart));
      return line([
        services.toLocaleString('en'),
        reference?.firstSync ?? '–',
        row ? seconds(row.inProcess.firstSync) : '',
        row ? seconds(row.start) : '',
        reference?.change ?? '–',
        row ? `${row.inProcess.changeP50?.toFixed(2)} / ${row.inProcess.changeP99?.toFixed(1)} ms` : '',
        row ? `${Math.round(row.inProcess.burst ?? NaN)} ms` : '',
        row ? `${seconds(row.restart)}, ${row.restartWrites} writes` : '',
        peak === undefined ? '' : `${peak}${reference?.peak ? ` (${reference.peak})` : ''}`,
      ]);
    });
}

function line(cells: readonly string[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
}

function seconds(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '–';
  return `${(milliseconds / 1_000).toFixed(milliseconds < 100 ? 2 : 1)} s`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
