import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import { TrafficCount } from '../../../src/application/traffic/traffic-count.js';
import { TrafficMetrics } from '../../../src/application/traffic/traffic-metrics.js';
import { trafficBetween } from '../../../src/diagnostics/domain/traffic.js';
import { TrafficWatchers } from '../../../src/application/traffic/traffic-watchers.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryFlowEvents } from '../../support/traffic/memory-flow-events.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { entryOf, seenFlow } from '../../support/traffic/flows.js';

const cart = entryOf();
const pay = entryOf({ name: 'pay', clusterIPs: { IPv4: '10.96.7.2' } });

let clock: FakeClock;
let events: MemoryFlowEvents;
let logger: MemoryLogger;
let watchers: TrafficWatchers;
beforeEach(() => {
  clock = new FakeClock();
  events = new MemoryFlowEvents();
  logger = new MemoryLogger();
  const sources = { entries: () => [cart, pay], localAddresses: () => [] };
  watchers = new TrafficWatchers(() => new TrafficCount(events, sources, clock, logger), clock);
});
afterEach(() => watchers.stop());

it('are counted all the time, whoever watches and leaves', async () => {
  const metrics = new TrafficMetrics(watchers, 10, logger);
  expect(metrics.values()).toEqual([]);
  metrics.start();
  watchers.watch(trafficBetween).leave();
  await clock.advanceAsync(60_000);
  for (let id = 0; id < 4; id++) events.begin(seenFlow(id));
  events.end(3);
  expect(metrics.values()).toMatchObject([
    { labels: { namespace: 'shop', service: 'cart', port: '' }, connections: 4, failed: 1, open: 3 },
  ]);
  expect(logger.lines).toEqual([]);
});

it('are limited, which is logged once', () => {
  const metrics = new TrafficMetrics(watchers, 1, logger);
  metrics.start();
  events.begin(seenFlow(1));
  events.begin(seenFlow(2, { destination: '10.96.7.2' }));
  for (let reading = 0; reading < 2; reading++)
    expect(metrics.values().map(({ labels }) => labels.service)).toEqual(['cart', 'other']);
  expect(logger.lines).toMatchObject([{ level: 'warn', facts: { limit: 1 } }]);
});

it('are missing where connections are not tracked, which is logged', () => {
  events.unavailable = new ConntrackUnavailableError('no permission');
  const metrics = new TrafficMetrics(watchers, 1, logger);
  metrics.start();
  expect(metrics.values()).toEqual([]);
  expect(logger.lines).toMatchObject([{ level: 'warn', facts: { error: events.unavailable } }]);
});
