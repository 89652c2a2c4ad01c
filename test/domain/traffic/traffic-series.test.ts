import type { TrafficTotals } from '../../../src/domain/traffic/endpoint-traffic.js';
import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { TrafficSeries } from '../../../src/domain/traffic/traffic-series.js';
import type { PortSnapshot, TrafficSnapshot } from '../../../src/domain/traffic/traffic-snapshot.js';
import { entryOf, FIRST } from '../../support/traffic/flows.js';

/** Service ports by name, each with so many connections in all, all of them open. */
function snapshot(connections: Readonly<Record<string, number>>): TrafficSnapshot {
  const ports = Object.entries(connections).map(([name, count]): PortSnapshot => {
    const totals: TrafficTotals = { connections: count, failed: 2 * count, bytes: 10 * count };
    const endpoints = new Map([[FIRST, { ...totals, open: count, overdue: 1, unresponsive: false }]]);
    return { entry: entryOf({ name }), ...totals, open: count, overdue: 1, endpoints };
  });
  return { time: 0, steady: 0, ports: new Map(ports.map((port) => [familyPortKey(port.entry), port])) };
}

const shown = (series: TrafficSeries, connections: Readonly<Record<string, number>>) =>
  series
    .of(snapshot(connections))
    .map(({ labels, connections: count, open }) => [labels.service, count, open]);

it('counts all others together', () => {
  const [, others] = new TrafficSeries(1).of(snapshot({ a: 1, b: 2, c: 4 }));
  expect(others).toMatchObject({
    labels: { service: 'other' },
    ...{ connections: 6, failed: 12, bytes: 60, open: 6, overdue: 2 },
  });
});

it('are of each service port, with its names', () => {
  const [values] = new TrafficSeries(5).of(snapshot({ cart: 3 }));
  expect(values).toEqual({
    labels: { namespace: 'shop', service: 'cart', port: '' },
    connections: 3,
    failed: 6,
    bytes: 30,
    open: 3,
    overdue: 1,
  });
});

it('are sums of both families', () => {
  const v4 = snapshot({ cart: 3 }).ports.values().next().value!;
  const v6 = { ...v4, entry: { ...v4.entry, family: 'IPv6' as const } };
  const ports = new Map([v4, v6].map((port) => [familyPortKey(port.entry), port]));
  expect(new TrafficSeries(5).of({ time: 0, steady: 0, ports })).toMatchObject([
    { connections: 6, failed: 12, bytes: 60, open: 6, overdue: 2 },
  ]);
});

it('are of the first service ports as long as they are there, and one of all others', () => {
  const series = new TrafficSeries(2);
  expect(shown(series, { a: 1, b: 2 })).toEqual([
    ['a', 1, 1],
    ['b', 2, 2],
  ]);
  expect(series.isFull).toBe(false);
  shown(series, { a: 1, b: 2, c: 4 });
  expect(series.isFull).toBe(true);
  expect(shown(series, { c: 4, a: 1, b: 2, d: 8 })).toEqual([
    ['a', 1, 1],
    ['b', 2, 2],
    ['other', 12, 12],
  ]);
  expect(series.isFull).toBe(true);
});

it('never fall, and give a free place to a newcomer only', () => {
  const series = new TrafficSeries(1);
  shown(series, { a: 1, c: 4, d: 8 });
  expect(shown(series, { c: 5, e: 1 })).toEqual([
    ['e', 1, 1],
    ['other', 13, 5],
  ]);
  expect(shown(series, { e: 1 })).toEqual([
    ['e', 1, 1],
    ['other', 13, 0],
  ]);
});
