import { Registry } from 'prom-client';
import { MetricSet, NO_LABELS } from '../../../src/adapters/metrics/metric-set.js';

const TABLE = {
  changes: { type: 'counter', name: 'changes', help: 'x', labels: ['family'] },
  waiting: { type: 'gauge', name: 'waiting', help: 'x' },
  seconds: { type: 'histogram', name: 'seconds', help: 'x', labels: ['family'], buckets: [1, 10] },
  unserved: { type: 'counter', name: 'unserved', help: 'x' },
} as const;

let registry: Registry;
let set: MetricSet<typeof TABLE>;

beforeEach(() => {
  registry = new Registry();
  set = new MetricSet(TABLE, registry, ({ name }) => name !== 'unserved');
});

it('tells whoever reads of every update, whether its labels are the same object or equal ones', async () => {
  const one = { family: 'IPv4' };
  set.count('changes', one);
  set.count('changes', one, 2);
  set.count('changes', { family: 'IPv4' }, 4);
  set.count('changes', { family: 'IPv6' });
  set.set('waiting', NO_LABELS, 7);
  set.set('waiting', NO_LABELS, 3);
  for (const value of [0.5, 5, 50]) set.observe('seconds', one, value);
  set.count('unserved');
  const text = await registry.metrics();
  for (const line of [
    'changes{family="IPv4"} 7',
    'changes{family="IPv6"} 1',
    'waiting 3',
    'seconds_bucket{le="1",family="IPv4"} 1',
    'seconds_bucket{le="10",family="IPv4"} 2',
    'seconds_count{family="IPv4"} 3',
    'seconds_sum{family="IPv4"} 55.5',
  ])
    expect(text).toContain(line);
  expect(text).not.toContain('unserved');
  expect(await registry.metrics()).toBe(text);
});

it('keeps nothing that was forgotten, and counts on from where another counter is', async () => {
  set.count('changes', { family: 'IPv4' });
  set.set('waiting', NO_LABELS, 7);
  set.clear('changes');
  set.clear('waiting');
  set.count('changes', { family: 'IPv6' });
  const text = await registry.metrics();
  expect(text).not.toContain('changes{family="IPv4"}');
  expect(text).toContain('changes{family="IPv6"} 1');
  expect(text).toContain('waiting 0');
});
