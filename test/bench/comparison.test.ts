import { comparisonTable, summarize, type Run } from '../../bench/against/report.js';

const run = (start: number, changes: readonly (number | null)[]): Run => ({
  start,
  peak: 50e6,
  processor: 400,
  healthy: 700,
  restart: 900,
  transactions: 1,
  changes,
});
const measured = {
  date: '2026-11-29',
  node: 'v24.21.0',
  linux: '6.18',
  processors: '2 × CPU',
  load: 0.5,
  runs: 3,
};
const size = { mode: 'nftables', services: 10_000, endpoints: 5, limitSeconds: 60, measured };

/** The cells of a row for each program. */
function cells(name: string, ...runs: readonly (readonly Run[])[]): readonly string[] {
  const programs = runs.map((each, index) => summarize(`program ${index}`, 'v1', each));
  const row = comparisonTable({ ...size, programs })
    .split('\n')
    .find((line) => line.startsWith(`| ${name} |`))!;
  return row.split(' | ').slice(1);
}

it('shows the medians of the runs, and the changes of all runs together', () => {
  const runs = [run(3_000, [1, 2]), run(1_000, [3]), run(2_000, [40, 5])];
  expect(cells('start of process to all Services', runs)).toEqual(['2.00 s |']);
  expect(cells('one endpoint replaced, p50', runs)).toEqual(['3.00 ms |']);
  expect(cells('longest of all changes', runs)).toEqual(['40 ms (of 5) |']);
  expect(cells('peak memory until then', runs)).toEqual(['50 MB |']);
});

it('shows what took longer than the limit as such, and what was not measured as a dash', () => {
  const never: Run = { start: null, changes: [] };
  const start = 'start of process to all Services';
  expect(cells(start, [run(1_000, [1])], [never])).toEqual(['1.00 s', 'more than 60 s |']);
  expect(cells('one endpoint replaced, p50', [never])).toEqual(['– |']);
  expect(cells('longest of all changes', [never])).toEqual(['– |']);
  // One of three runs.
  const once = [run(1_000, [1]), run(2_000, [1]), never];
  expect(cells(start, once)).toEqual(['2.00 s |']);
  expect(cells('restart to the first change in the kernel', once)).toEqual(['– |']);
  const slow = [run(1_000, [1, 2, null])];
  expect(cells('one endpoint replaced, p50', slow)).toEqual(['2.00 ms |']);
  expect(cells('longest of all changes', slow)).toEqual(['more than 60 s (of 3) |']);
});

it('names the size, the machine and the versions above the table', () => {
  const table = comparisonTable({ ...size, programs: [summarize('kube-proxy', 'Kubernetes v1.36.0', [])] });
  expect(table.split('\n').slice(0, 4)).toEqual([
    'nftables: 10,000 Services of 5 endpoints, medians of 3 runs.',
    'Linux 6.18, 2 × CPU, load 0.5, Node v24.21.0, 2026-11-29.',
    '',
    '|  | kube-proxy (Kubernetes v1.36.0) |',
  ]);
});
