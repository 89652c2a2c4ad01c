import {
  EjectUnresponsiveEndpoints,
  EjectionReports,
} from '../../../src/application/failover/eject-unresponsive-endpoints.js';
import type {
  AttemptOutcome,
  EndpointConnector,
} from '../../../src/application/ports/node/endpoint-connections.js';
import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import { TrafficCount } from '../../../src/application/traffic/traffic-count.js';
import { TrafficWatchers } from '../../../src/application/traffic/traffic-watchers.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Service } from '../../../src/domain/model/service.js';
import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingEvents } from '../../../src/testing/fakes/recording-events.js';
import { endpoint, service } from '../../support/samples.js';
import { MemoryFlowEvents } from '../../support/traffic/memory-flow-events.js';
import { FIRST, SECOND, seenFlow } from '../../support/traffic/flows.js';

const ON: Partial<Service> = { ejectUnresponsiveEndpoints: true };
const THIRD = '10.244.2.13:8080';
const context = {
  family: 'IPv4',
  topology: { nodeName: 'node1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.11',
  externalIPsAllowed: true,
} as const;

/** What this node finds when it connects to endpoints, and to which it tried. */
let outcome: AttemptOutcome;
let attempts: string[];
const connector: EndpointConnector = {
  attempt: (to) => {
    attempts.push(endpointPlace(to));
    return Promise.resolve(outcome);
  },
};
let clock: FakeClock;
let kernel: MemoryFlowEvents;
let logger: MemoryLogger;
let events: RecordingEvents;
let watchers: TrafficWatchers;
let ejection: EjectUnresponsiveEndpoints;
/** What is forwarded. */
let entry: ForwardingEntry | undefined;
let endpoints: readonly Endpoint[];
let wish: Partial<Service>;
let recomputed: string[];
let lastFlow: number;

beforeEach(() => {
  outcome = 'unanswered';
  attempts = [];
  clock = new FakeClock(1_000_000);
  kernel = new MemoryFlowEvents();
  logger = new MemoryLogger();
  events = new RecordingEvents();
  entry = undefined;
  endpoints = ['10.244.2.11', '10.244.2.12', '10.244.2.13'].map((address) => endpoint(address));
  wish = ON;
  recomputed = [];
  lastFlow = 0;
  const sources = { entries: () => (entry ? [entry] : []), localAddresses: () => [] };
  watchers = new TrafficWatchers(() => new TrafficCount(kernel, sources, clock, logger), clock);
  const recompute = (family: string, key: string): void => {
    recomputed.push(`${family} ${key}`);
    program();
  };
  const reports = new EjectionReports('node1', events, logger);
  ejection = new EjectUnresponsiveEndpoints(
    () => ({ traffic: watchers, recompute }),
    reports,
    connector,
    clock,
  );
});
afterEach(async () => {
  ejection.stop();
  await watchers.stop();
  expect(clock.pending).toBe(0);
});

/** As after a sync. */
function program(): void {
  [entry] = forwardService(service(wish), () => endpoints, context, {
    ejected: ejection.ejectedEndpoints('IPv4'),
  });
  tell({ key: entry!.key, entry });
}

function tell(change: { readonly key: string; readonly entry: ForwardingEntry | undefined }): void {
  const network = {} as never;
  ejection.listener('IPv4').programmed({ changes: [change], failed: new Set(), network });
}

/** Connections begin, and wait for longer than they may. */
async function unanswered(place: string, count = 3): Promise<void> {
  for (let i = 0; i < count; i++) kernel.begin(seenFlow(++lastFlow, { replySource: place }));
  await clock.advanceAsync(2_500);
}

async function answered(place: string): Promise<void> {
  kernel.begin(seenFlow(++lastFlow, { replySource: place }));
  kernel.change(seenFlow(lastFlow, { replySource: place, replied: true }));
  await clock.advanceAsync(100);
}

const reachable = (): readonly string[] => entry!.endpoints.reachable.map(endpointPlace);

it('leaves an unresponsive endpoint out of the entry, logs why, and tries it again', async () => {
  program();
  await clock.advanceAsync(5_000);
  await unanswered(FIRST, 2);
  expect(recomputed).toEqual([]);
  await unanswered(FIRST, 1);
  expect(recomputed).toEqual(['IPv4 shop/cart']);
  expect(reachable()).toEqual([SECOND, THIRD]);
  expect(ejection.ejectedCount('IPv4')).toBe(1);
  expect(ejection.ejectedCount('IPv6')).toBe(0);
  expect([...ejection.portsWithEjections()]).toEqual([entry]);
  const times = ejection.ejectionTimes(familyPortKey(entry!), FIRST)!;
  expect(times.until - times.since).toBe(30_000);
  expect(times.since).toBeLessThanOrEqual(clock.now());
  expect(ejection.ejectionTimes(familyPortKey(entry!), SECOND)).toBeUndefined();
  expect(events.events).toEqual([
    {
      regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
      type: 'Warning',
      reason: 'UnresponsiveEndpoint',
      action: 'EjectEndpoint',
      note: expect.stringContaining(`node node1, IPv4: 1 of 3 ready endpoints does not answer: ${FIRST};`),
    },
  ]);
  await clock.advanceAsync(31_000);
  expect(reachable()).toEqual([FIRST, SECOND, THIRD]);
  expect(ejection.ejectedCount('IPv4')).toBe(0);
  expect([...ejection.portsWithEjections()]).toEqual([]);
  await unanswered(FIRST);
  expect(reachable()).toEqual([SECOND, THIRD]);
  expect([...ejection.stepCounts]).toEqual([
    ['unresponsive', 1],
    ['retry', 1],
    ['still unresponsive', 1],
  ]);
  const steps = logger.lines.filter(({ facts }) => 'endpoint' in facts);
  expect(steps.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'ejected an unresponsive endpoint'],
    ['info', 'an ejected endpoint gets new connections again'],
    ['warn', 'ejected an unresponsive endpoint'],
  ]);
  expect(events.events).toHaveLength(2);
});

it('counts nothing where no Service wants it, and stops counting when none does any more', async () => {
  wish = {};
  program();
  await clock.advanceAsync(10_000);
  expect([kernel.isOpen, clock.pending]).toEqual([false, 0]);
  wish = ON;
  program();
  expect(kernel.isOpen).toBe(true);
  await clock.advanceAsync(60_000);
  expect(kernel.isOpen).toBe(true);
  wish = { ejectUnresponsiveEndpoints: false };
  program();
  await clock.advanceAsync(10_000);
  expect(kernel.isOpen).toBe(false);
  wish = ON;
  program();
  tell({ key: entry!.key, entry: undefined });
  await clock.advanceAsync(10_000);
  expect(kernel.isOpen).toBe(false);
});

it('brings everything back when the Service no longer wants it, and has forgotten it when it does again', async () => {
  program();
  await clock.advanceAsync(5_000);
  await unanswered(FIRST);
  expect(reachable()).toEqual([SECOND, THIRD]);
  wish = { ejectUnresponsiveEndpoints: false };
  program();
  expect(reachable()).toEqual([FIRST, SECOND, THIRD]);
  wish = ON;
  program();
  expect(reachable()).toEqual([FIRST, SECOND, THIRD]);
});

it('leaves an endpoint where it is that this node can connect to, whatever clients seem to see', async () => {
  outcome = 'answered';
  program();
  for (let burst = 0; burst < 5; burst++) await unanswered(FIRST, 20);
  expect(recomputed).toEqual([]);
  expect(new Set(attempts)).toEqual(new Set([FIRST]));
  expect(attempts.length).toBeLessThanOrEqual(15);
  outcome = 'unanswered';
  await unanswered(FIRST);
  expect(reachable()).toEqual([SECOND, THIRD]);
});

it('looks at all ports that are counted once a second, and after an attempt only at its own', async () => {
  let looks = 0;
  const counted = () => {
    const found = watchers.counted()!;
    const ports = new Map(found.ports);
    const keys = ports.keys.bind(ports);
    ports.keys = () => {
      looks++;
      return keys();
    };
    return { ...found, ports };
  };
  const traffic = { keepCounting: watchers.keepCounting.bind(watchers), counted };
  const reports = new EjectionReports('node1', events, logger);
  ejection = new EjectUnresponsiveEndpoints(
    () => ({ traffic, recompute: program }),
    reports,
    connector,
    clock,
  );
  outcome = 'answered';
  program();
  for (const place of [FIRST, SECOND]) kernel.begin(seenFlow(++lastFlow, { replySource: place }));
  await clock.advanceAsync(4_500);
  expect(attempts.length).toBeGreaterThan(0);
  expect(looks).toBe(4);
});

it('does not try to connect by SCTP, and needs two clients instead', async () => {
  wish = { ...ON, ports: [{ name: '', protocol: 'SCTP', port: 80, nodePort: 0 }] };
  program();
  const sctp = { replySource: FIRST, protocol: 'SCTP' } as const;
  for (let id = 1; id <= 10; id++) kernel.begin(seenFlow(id, sctp));
  await clock.advanceAsync(2_500);
  expect(reachable()).toEqual([FIRST, SECOND, THIRD]);
  for (let id = 11; id <= 13; id++) kernel.begin(seenFlow(id, { ...sctp, client: id }));
  await clock.advanceAsync(2_500);
  expect(reachable()).toEqual([SECOND, THIRD]);
  expect(attempts).toEqual([]);
});

it('never blames endpoints that refuse, or answer in between', async () => {
  program();
  await clock.advanceAsync(5_000);
  for (let i = 0; i < 20; i++) {
    const flow = seenFlow(++lastFlow, { replySource: FIRST });
    kernel.begin(flow);
    kernel.change({ ...flow, closed: true }, false);
    kernel.end(flow.id);
    await unanswered(SECOND, 2);
    await answered(SECOND);
  }
  expect(recomputed).toEqual([]);
});

it('blames nobody when events were lost in the last ten seconds', async () => {
  program();
  await clock.advanceAsync(5_000);
  kernel.room = 3;
  await unanswered(FIRST, 10);
  kernel.room = Infinity;
  await clock.advanceAsync(9_000);
  expect(recomputed).toEqual([]);
  await unanswered(FIRST);
  await unanswered(FIRST);
  expect(reachable()).toEqual([SECOND, THIRD]);
});

it('blames nobody before the first walk through the table is over', async () => {
  kernel.faults.push(new Error('busy'), new Error('busy'));
  program();
  await unanswered(FIRST);
  expect(recomputed).toEqual([]);
  await clock.advanceAsync(12_000);
  await unanswered(FIRST);
  expect(reachable()).toEqual([SECOND, THIRD]);
});

it('forgets an endpoint that leaves its slices', async () => {
  program();
  await clock.advanceAsync(5_000);
  await unanswered(FIRST);
  const all = endpoints;
  endpoints = all.slice(1);
  program();
  await clock.advanceAsync(2_000);
  endpoints = all;
  program();
  expect(reachable()).toEqual([FIRST, SECOND, THIRD]);
});

it('warns of what it cannot see as long as a Service wants it, and says it once', async () => {
  kernel.tracksServices = false;
  wish = {};
  program();
  expect(ejection.warnings).toEqual([]);
  wish = ON;
  program();
  await clock.advanceAsync(5_000);
  expect(ejection.warnings).toEqual([expect.stringContaining('set net.ipv4.vs.conntrack to 1')]);
  expect(warned('net.ipv4.vs.conntrack')).toBe(1);
  kernel.tracksServices = true;
  expect(ejection.warnings).toEqual([]);
});

it('warns while not everything has been read, and after events were lost', async () => {
  kernel.faults.push(new Error('busy'));
  program();
  expect(ejection.warnings).toEqual([expect.stringContaining('until all have been')]);
  await clock.advanceAsync(15_000);
  expect(ejection.warnings).toEqual([]);
  kernel.room = 3;
  await unanswered(FIRST, 10);
  kernel.room = Infinity;
  await clock.advanceAsync(5_000);
  expect(ejection.warnings).toEqual([expect.stringContaining('connection events were lost')]);
  await clock.advanceAsync(10_000);
  expect(ejection.warnings).toEqual([]);
});

it('says once that nothing can be counted, warns of it, and tries again with the next change', async () => {
  kernel.unavailable = new ConntrackUnavailableError('no such module');
  program();
  program();
  expect(warned('cannot be counted')).toBe(1);
  expect(ejection.warnings).toEqual([expect.stringMatching(/cannot be counted.*no such module/)]);
  kernel.unavailable = undefined;
  program();
  expect(kernel.isOpen).toBe(true);
  await clock.advanceAsync(1_000);
  expect(ejection.warnings).toEqual([]);
});

it('counts nothing in a mode in which no endpoint can be ejected, logs it once, and warns of it', () => {
  const reports = new EjectionReports('node1', events, logger);
  const targets = () => ({ traffic: watchers, recompute: () => {} });
  ejection = new EjectUnresponsiveEndpoints(targets, reports, connector, clock, 'no ejection here');
  expect(ejection.warnings).toEqual([]);
  program();
  program();
  expect(kernel.isOpen).toBe(false);
  expect(warned('no ejection here')).toBe(1);
  expect(ejection.warnings).toEqual(['no ejection here']);
});

function warned(words: string): number {
  return logger.at('warn').filter(({ message }) => message.includes(words)).length;
}
