import { table } from '../../bench/report.js';

const row = {
  services: 10_000,
  endpoints: 5,
  start: 1234.5,
  restart: 98.7,
  restartWrites: 0,
  peak: { start: 123_456_789, changes: 100e6, restart: 99.6e6 },
};

it('prints measurements as a table in Markdown, in units that people read', () => {
  const inProcess = { read: 20, firstSync: 300.4, changeP50: 0.1234, changeP99: 4, burst: 12 };
  expect(
    table([{ ...row, inProcess }])
      .split('\n')
      .at(-1),
  ).toBe(
    '| 10,000 × 5 | 20 ms | 300 ms | 1.23 s | 0.12 ms | 4.00 ms | 12 ms | 99 ms, 0 writes | 123, 100, 100 MB |',
  );
});

it('shows what was not measured as a dash', () => {
  expect(table([{ ...row, inProcess: {} }])).toContain('| 10,000 × 5 | – | – | 1.23 s | – | – | – |');
});

it('shows the time of the tool alone where there is a tool', () => {
  const inProcess = { read: 20, firstSync: 2200, changeP50: 540, changeP99: 600, burst: 700 };
  const tool = { firstSync: 2000, changeP50: 500, burst: 650 };
  const lines = table([{ ...row, inProcess, tool }]).split('\n');
  expect(lines[2]).toContain(
    '| 20 ms | 2.20 s (2.00 s) | 1.23 s | 540 ms (500 ms) | 600 ms | 700 ms (650 ms) |',
  );
  expect(lines.at(-1)).toContain('iptables-restore by itself');
  expect(table([{ ...row, inProcess }])).not.toContain('iptables-restore');
});
