import { table } from '../../bench/report.js';

const row = {
  services: 10_000,
  endpoints: 5,
  start: 1234.5,
  restart: 98.7,
  restartWrites: 0,
  peakBytes: 123_456_789,
};

it('prints measurements as a table in Markdown, in units that people read', () => {
  const inProcess = { read: 20, firstSync: 300.4, changeP50: 0.1234, changeP99: 4, burst: 12 };
  expect(
    table([{ ...row, inProcess }])
      .split('\n')
      .at(-1),
  ).toBe('| 10,000 × 5 | 20 ms | 300 ms | 1.2 s | 0.12 ms | 4.00 ms | 12 ms | 99 ms, 0 writes | 123 MB |');
});

it('shows what was not measured as a dash', () => {
  expect(table([{ ...row, inProcess: {} }])).toContain('| 10,000 × 5 | – | – | 1.2 s | – | – | – |');
});

it('shows the time of the tool alone where there is a tool', () => {
  const lines = table([{ ...row, inProcess: { firstSync: 2200 }, toolAlone: 2000 }]).split('\n');
  expect(lines[0]).toContain('| of that iptables-restore by itself, same input |');
  expect(lines.at(-1)).toContain('| 2.2 s | 2.0 s |');
  expect(table([{ ...row, inProcess: {} }])).not.toContain('iptables-restore');
});
