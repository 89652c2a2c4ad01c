import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import { BalanceByConnections } from '../../../src/application/traffic/balance-by-connections.js';
import { TrafficCount } from '../../../src/application/traffic/traffic-count.js';
import { openConnections, TrafficWatchers } from '../../../src/application/traffic/traffic-watchers.js';
import { slotShares } from '../../../src/domain/balancing/slots.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { Service } from '../../../src/domain/model/service.js';
import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { endpoint, service } from '../../support/samples.js';
import { FIRST, SECOND, seenFlow } from '../../support/traffic/flows.js';
import { MemoryFlowEvents } from '../../support/traffic/memory-flow-events.js';

const ON: Partial<Service> = { balancingMethod: 'least-connections' };
const endpoints = [endpoint('10.244.2.11'), endpoint('10.244.2.12')];
const context = {
  family: 'IPv4',
  topology: { nodeName: 'node1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.11',
  externalIPsAllowed: true,
} as const;

let clock: FakeClock;
let kernel: MemoryFlowEvents;
let logger: MemoryLogger;
let watchers: TrafficWatchers;
let balancing: BalanceByConnections;
let entry: ForwardingEntry | undefined;
let wish: Partial<Service>;
let recomputed: string[];
let lastFlow: number;

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  kernel = new MemoryFlowEvents();
  logger = new MemoryLogger();
  entry = undefined;
  wish = ON;
  recomputed = [];
  lastFlow = 0;
  const sources = { entries: () => (entry ? [entry] : []), localAddresses: () => [] };
  watchers = new TrafficWatchers(() => new TrafficCount(kernel, sources, clock, logger), clock);
  const recompute = (family: string, key: string): void => {
    recomputed.push(`${family} ${key}`);
    program();
  };
  balancing = new BalanceByConnections(() => ({ traffic: watchers, recompute }), clock, logger);
});
afterEach(async () => {
  balancing.stop();
  await watchers.stop();
  expect(clock.pending).toBe(0);
});

/** As after a sync. */
function program(): void {
  [entry] = forwardService(service(wish), () => endpoints, context, {
    weights: balancing.effectiveWeights('IPv4'),
  });
  programmed(entry);
}

function programmed(after: ForwardingEntry | undefined): void {
  const changes = [{ key: entry!.key, entry: after }];
  balancing.listener('IPv4').programmed({ changes, failed: new Set(), network: {} as never });
}

function open(place: string, count: number): readonly number[] {
  return Array.from({ length: count }, () => {
    kernel.begin(seenFlow(++lastFlow, { replySource: place, replied: true }));
    return lastFlow;
  });
}

/** The parts of new connections, in percent. */
function parts(): readonly number[] {
  const shares = slotShares(entry!.endpoints.cluster!, entry!.balancing!);
  return shares.map(({ slots, totalSlots }) => Math.round((100 * slots) / totalSlots));
}

it('gives endpoints with fewer open connections more of the next ones, and all the same when they are closed', async () => {
  program();
  expect(parts()).toEqual([50, 50]);
  await clock.advanceAsync(2_000);
  expect(recomputed).toEqual([]);
  const opened = open(FIRST, 9);
  await clock.advanceAsync(1_100);
  expect(recomputed).toEqual(['IPv4 shop/cart']);
  await clock.advanceAsync(20_000);
  const [first, second] = parts();
  expect(first).toBeGreaterThanOrEqual(8);
  expect(first).toBeLessThanOrEqual(12);
  expect(first! + second!).toBe(100);
  const count = openConnections(watchers.counted()!, familyPortKey(entry!));
  expect([count(FIRST), count(SECOND)]).toEqual([9, 0]);
  const times = recomputed.length;
  await clock.advanceAsync(60_000);
  expect(recomputed).toHaveLength(times);
  for (const id of opened) kernel.end(id);
  await clock.advanceAsync(20_000);
  expect(Math.abs(parts()[0]! - 50)).toBeLessThanOrEqual(3);
});

it('changes a Service once a second at most', async () => {
  program();
  await clock.advanceAsync(2_000);
  for (let second = 1; second <= 10; second++) {
    for (let burst = 0; burst < 10; burst++) {
      open(second % 2 === 0 ? FIRST : SECOND, 20);
      await clock.advanceAsync(100);
    }
    expect(recomputed.length).toBeLessThanOrEqual(second);
  }
  expect(recomputed.length).toBeGreaterThan(2);
});

it.each<[string, Partial<Service>]>([
  ['no Service asks for it', {}],
  ['clients keep their endpoints', { ...ON, affinitySeconds: 10_800 }],
])('counts nothing where %s', async (_, service) => {
  wish = service;
  program();
  await clock.advanceAsync(10_000);
  expect([kernel.isOpen, clock.pending]).toEqual([false, 0]);
});

it('stops counting and forgets the Service when it is gone', async () => {
  program();
  await clock.advanceAsync(2_000);
  open(FIRST, 9);
  await clock.advanceAsync(3_000);
  expect(parts()).not.toEqual([50, 50]);
  programmed(undefined);
  await clock.advanceAsync(20_000);
  expect(kernel.isOpen).toBe(false);
  program();
  expect(parts()).toEqual([50, 50]);
});

it('chooses by weight alone where connections cannot be counted, and reports that once', async () => {
  kernel.unavailable = new ConntrackUnavailableError('no nf_conntrack_netlink');
  program();
  program();
  await clock.advanceAsync(5_000);
  expect(parts()).toEqual([50, 50]);
  const text = 'connections cannot be counted, so least-connections chooses endpoints by weight alone';
  expect(logger.at('warn').map(({ message }) => message)).toEqual([text]);
  expect(balancing.warnings).toEqual([
    `${text}: connection tracking is unavailable: no nf_conntrack_netlink`,
  ]);
  programmed(undefined);
  expect(balancing.warnings).toEqual([]);
});
