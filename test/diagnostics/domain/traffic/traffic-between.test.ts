import { endpoint } from '../../../support/samples.js';
import type { ForwardingEntry } from '../../../../src/domain/forwarding/forwarding-entry.js';
import { ServiceFrontends } from '../../../../src/domain/traffic/service-frontends.js';
import {
  trafficBetween,
  type TrafficOrder,
  type TrafficQuery,
  type TrafficReport,
} from '../../../../src/diagnostics/domain/traffic.js';
import { snapshotOf, type TrafficSnapshot } from '../../../../src/domain/traffic/traffic-snapshot.js';
import { TrafficTable } from '../../../../src/domain/traffic/traffic-table.js';
import { entryOf, SECOND, seenFlow } from '../../../support/traffic/flows.js';
import { timeText } from '../../../../src/domain/model/text.js';

const cart = entryOf();
const pay = entryOf({ name: 'pay', clusterIPs: { IPv4: '10.96.7.2' } }, [
  endpoint('10.244.2.21', { ready: false, serving: true, terminating: true }),
]);
const idle = entryOf({ namespace: 'other', name: 'idle', clusterIPs: { IPv4: '10.96.7.3' } });
const entries: readonly ForwardingEntry[] = [cart, pay, idle];
const facts = {
  complete: true,
  readRatio: 1,
  samplingRate: 1,
  eventLosses: 0,
  trackedConnections: 9,
  bytesCounted: true,
  servicesTracked: true,
};

let table: TrafficTable;
let frontends: ServiceFrontends;
beforeEach(() => {
  frontends = new ServiceFrontends();
  frontends.follow(entries, []);
  table = new TrafficTable((flow) => frontends.ownerOf(flow));
});

const toPay = { destination: '10.96.7.2', replySource: '10.244.2.21:8080' };
const take = (time: number): TrafficSnapshot =>
  snapshotOf(table, (key) => frontends.entry(key), { time, steady: time });
const everything: TrafficQuery = { services: [], sort: 'open', limit: Infinity };

function between(
  before: TrafficSnapshot,
  after: TrafficSnapshot,
  query: Partial<TrafficQuery> = {},
): TrafficReport {
  return trafficBetween(before, after, { ...everything, ...query }, facts, entries);
}

it('reports what began, ended without an answer, and was transferred between two moments, and what is open', () => {
  table.began(seenFlow(1), 0);
  const before = take(1_000);
  table.began(seenFlow(2, { replySource: SECOND }), 1_000);
  table.began(seenFlow(3), 1_000);
  table.ceased(seenFlow(3, { bytes: 60 }), 0);
  table.found(seenFlow(2, { replySource: SECOND, replied: true, bytes: 940 }), 1_500);
  table.tidy(3_000, () => ({ has: () => true }));
  const report = between(before, take(3_000));
  expect(report).toMatchObject({ time: timeText(3_000), durationSeconds: 2, ...facts, omitted: 0 });
  expect(report.services).toEqual([
    {
      namespace: 'shop',
      name: 'cart',
      portName: '',
      protocol: 'TCP',
      family: 'IPv4',
      openConnections: 2,
      newConnections: 2,
      newConnectionsPerSecond: 1,
      unansweredConnections: 2,
      bytes: 1_000,
      bytesPerSecond: 500,
      unresponsiveEndpoints: 0,
      endpoints: [
        expect.objectContaining({
          address: '10.244.2.11',
          port: 8080,
          state: 'ready',
          openConnections: 1,
          newConnections: 1,
          unansweredConnections: 2,
        }),
        expect.objectContaining({
          address: '10.244.2.12',
          state: 'ready',
          openConnections: 1,
          newConnections: 1,
          unansweredConnections: 0,
        }),
      ],
    },
  ]);
});

it('reports nothing new of an interval in which nothing happened, not even an instant', () => {
  table.found(seenFlow(1, { replied: true, bytes: 60 }), 0);
  for (const time of [1_000, 2_000])
    expect(between(take(1_000), take(time)).services[0]).toMatchObject({
      openConnections: 1,
      newConnections: 0,
      newConnectionsPerSecond: 0,
      unansweredConnections: 0,
      bytes: 0,
      bytesPerSecond: 0,
    });
});

it('has a row for a Service that is asked for alone, and had no traffic', () => {
  const { services } = between(take(0), take(1_000), { services: ['pay'] });
  expect(services).toMatchObject([{ name: 'pay', openConnections: 0, newConnections: 0 }]);
});

it('multiplies what is open in a sample', () => {
  table.sample(3);
  for (let id = 0; id < 5; id++) table.began(seenFlow(id), 0);
  expect(between(take(0), take(1_000)).services[0]).toMatchObject({ openConnections: 40, newConnections: 0 });
});

it('marks only endpoints that are ready', () => {
  for (let id = 0; id < 3; id++) {
    table.began(seenFlow(id, toPay), 0);
    table.began(seenFlow(10 + id), 0);
  }
  table.tidy(1_000, () => ({ has: () => true }));
  const { services } = between(take(1_000), take(2_000));
  expect(services.map(({ name, unresponsiveEndpoints }) => [name, unresponsiveEndpoints])).toEqual([
    ['cart', 1],
    ['pay', 0],
  ]);
  expect(services[1]!.endpoints).toEqual([
    expect.objectContaining({
      address: '10.244.2.21',
      state: 'terminating',
      unresponsive: false,
      unansweredConnections: 3,
    }),
  ]);
});

it('an ejected endpoint is unresponsive, and not unused', () => {
  const ejection = {
    reachable: cart.endpoints.reachable.slice(1),
    ejected: { cluster: cart.endpoints.reachable.slice(0, 1), local: [] },
  };
  const entry = { ...cart, endpoints: { ...cart.endpoints, ...ejection } };
  frontends.follow([entry], []);
  for (let id = 0; id < 3; id++) table.began(seenFlow(id), 0);
  table.tidy(1_000, () => ({ has: () => true }));
  const [port] = between(take(1_000), take(2_000)).services;
  expect(port!.unresponsiveEndpoints).toBe(1);
  expect(port!.endpoints.map(({ state, unresponsive }) => [state, unresponsive])).toEqual([
    ['ejected', true],
    ['ready', false],
  ]);
});

it('the part of each endpoint, where open connections count', () => {
  const balanced = entryOf({ balancingMethod: 'least-connections' });
  table.began(seenFlow(1), 0);
  const { services } = trafficBetween(take(0), take(1_000), { ...everything, services: ['cart'] }, facts, [
    balanced,
  ]);
  expect(services[0]!.endpoints.map(({ shareRatio }) => shareRatio?.toFixed(2))).toEqual(['0.50', '0.50']);
  expect(between(take(0), take(1_000), { services: ['cart'] }).services[0]!.endpoints[0]).not.toHaveProperty(
    'share',
  );
});

it('shows an endpoint that is gone while it has connections', () => {
  table.began(seenFlow(1, { replySource: '10.244.2.99:8080' }), 0);
  const [port] = between(take(0), take(1_000)).services;
  expect(port!.endpoints[0]).toMatchObject({
    address: '10.244.2.99',
    port: 8080,
    state: 'unused',
    openConnections: 1,
  });
});

describe('asked for', () => {
  beforeEach(() => {
    table.began(seenFlow(1), 0);
    table.found(seenFlow(2, toPay), 0);
    table.found(seenFlow(3, toPay), 0);
  });
  const names = (query: Partial<TrafficQuery>): readonly string[] =>
    between({ time: 0, steady: 0, ports: new Map() }, take(1_000), query).services.map(({ name }) => name);

  it.each([
    ['open', ['pay', 'cart']],
    ['new', ['cart', 'pay']],
  ] as readonly [TrafficOrder, readonly string[]][])('by %s', (sort, order) => {
    expect(names({ sort })).toEqual(order);
  });

  it.each([
    [{ namespace: 'shop' }, ['pay', 'cart']],
    [{ namespace: 'other' }, []],
    [{ services: ['cart'] }, ['cart']],
    [{ services: ['shop/pay', 'idle'] }, ['pay', 'idle']],
    [{ services: ['idle'], namespace: 'shop' }, []],
    [{ services: ['nobody'] }, []],
  ])('%j', (query, expected) => {
    expect(names(query)).toEqual(expected);
  });

  it('says how many it leaves out', () => {
    const report = between(take(0), take(1_000), { limit: 1 });
    expect([report.services.length, report.omitted]).toEqual([1, 1]);
  });
});
