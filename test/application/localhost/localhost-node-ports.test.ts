import { LocalhostNodePorts } from '../../../src/application/localhost/localhost-node-ports.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNodePortRelay } from '../../support/fakes/memory-node-port-relay.js';
import { RecordingMetrics } from '../../support/fakes/recording-metrics.js';
import { endpoint } from '../../support/samples.js';

const RELAYED = { loopbackNodePorts: 'relayed' } as NodeNetwork;
const REJECTED = { loopbackNodePorts: 'rejected' } as NodeNetwork;

let clock: FakeClock;
let relay: MemoryNodePortRelay;
let metrics: RecordingMetrics;
let logger: MemoryLogger;
let reported: string[];
let ports: LocalhostNodePorts;
beforeEach(() => {
  clock = new FakeClock();
  relay = new MemoryNodePortRelay();
  metrics = new RecordingMetrics();
  logger = new MemoryLogger();
  reported = [];
  const report = (key: string, problem = 'fine'): void => void reported.push(`${key} ${problem}`);
  ports = new LocalhostNodePorts({ family: 'IPv4', relay, metrics, report, clock, logger });
});

const keyOf = (name: string): string => `shop/${name}/tcp/`;

const entry = (
  name: string,
  port: number,
  addresses: readonly string[],
  affinitySeconds = 0,
): ForwardingChange => ({
  key: keyOf(name),
  entry: {
    name: { namespace: 'shop', name, port: '', protocol: 'TCP' },
    frontends: [{ kind: 'node-port', port, policy: 'Cluster', outcome: 'forward' }],
    endpoints: { cluster: addresses.map((address) => endpoint(address)) },
    affinitySeconds,
  } as unknown as ForwardingEntry,
});
const gone = (name: string): ForwardingChange => ({ key: keyOf(name), entry: undefined });

async function programmed(
  changes: readonly ForwardingChange[],
  failed: readonly string[] = [],
  network = RELAYED,
): Promise<void> {
  ports.programmed({ changes, failed: new Set(failed.map(keyOf)), network });
  await clock.advanceAsync(0);
}

const count = (): unknown => metrics.of('localhostListeners').at(-1)?.[1];

it('listens for a node port while it has an endpoint, and stays open while endpoints change', async () => {
  await programmed([entry('web', 30080, [])]);
  expect(relay.open).toEqual([]);
  await programmed([entry('web', 30080, ['10.1.1.1'], 60)]);
  expect(relay.open).toEqual(['30080 > 10.1.1.1:8080 (60 s)']);
  expect([count(), ports.placeOf(keyOf('web'))]).toEqual([1, '127.0.0.1:30080']);
  expect([logger.lines, reported]).toEqual([[], []]);
  await programmed([entry('web', 30080, ['10.1.1.1', '10.1.1.2'])]);
  expect(relay.open).toEqual(['30080 > 10.1.1.1:8080 10.1.1.2:8080']);
  expect(relay.history).toEqual(['+30080']);
  await programmed([entry('web', 30080, [])]);
  expect([relay.open, count(), ports.placeOf(keyOf('web'))]).toEqual([[], 0, undefined]);
});

it('follows node ports that change, change hands, or go', async () => {
  await programmed([entry('a', 30001, ['10.1.1.1']), entry('b', 30002, ['10.1.1.2'])]);
  await programmed([entry('a', 30002, ['10.1.1.1']), entry('b', 30003, ['10.1.1.2'])]);
  expect(relay.open).toEqual(['30002 > 10.1.1.1:8080', '30003 > 10.1.1.2:8080']);
  expect(relay.history).toEqual(['+30001', '+30002', '-30001', '+30003']);
  await programmed([gone('a'), gone('b')]);
  expect(relay.open).toEqual([]);
});

it('serves the first by key of several service ports with one node port', async () => {
  await programmed([entry('b', 30001, ['10.1.1.2'])]);
  await programmed([entry('a', 30001, ['10.1.1.1'])]);
  expect(relay.open).toEqual(['30001 > 10.1.1.1:8080']);
  expect([ports.placeOf(keyOf('a')), ports.placeOf(keyOf('b'))]).toEqual(['127.0.0.1:30001', undefined]);
  await programmed([entry('a', 30001, [])]);
  expect(relay.open).toEqual([]);
  await programmed([gone('a')]);
  expect(relay.open).toEqual(['30001 > 10.1.1.2:8080']);
});

it('leaves service ports as they were that fail to be programmed', async () => {
  await programmed([entry('web', 30080, ['10.1.1.1']), entry('new', 30081, ['10.1.1.3'])], ['new']);
  await programmed([entry('web', 30090, ['10.1.1.2'])], ['web']);
  await programmed([gone('web')], ['web']);
  expect(relay.open).toEqual(['30080 > 10.1.1.1:8080']);
});

it('opens and closes all as the network of the node says', async () => {
  await programmed([entry('a', 30001, ['10.1.1.1']), entry('b', 30002, ['10.1.1.2'])], [], REJECTED);
  expect([relay.history, count()]).toEqual([[], 0]);
  await programmed([]);
  expect(relay.open).toEqual(['30001 > 10.1.1.1:8080', '30002 > 10.1.1.2:8080']);
  await programmed([], [], REJECTED);
  expect([relay.open, count()]).toEqual([[], 0]);
});

it('closes all when it stops, and opens nothing after that', async () => {
  await programmed([entry('a', 30001, ['10.1.1.1'])]);
  const stopped = ports.stop();
  await clock.advanceAsync(0);
  await stopped;
  await programmed([entry('b', 30002, ['10.1.1.2'])]);
  expect([relay.open, count()]).toEqual([[], 0]);
});

describe('a port that another program has', () => {
  beforeEach(async () => {
    relay.busy.add(30080);
    await programmed([entry('web', 30080, ['10.1.1.1'])]);
  });

  it('is counted and reported, and retried after 1, 2, 4, 5, 5 s', async () => {
    expect(reported).toEqual(['shop/web/tcp/ port 30080 is in use']);
    const failures = (): number => metrics.of('localhostListenerFailed').length;
    const seen = [];
    for (const seconds of [1, 2, 4, 5, 5]) {
      await clock.advanceAsync(seconds * 1_000 - 1);
      seen.push(failures());
      await clock.advanceAsync(1);
    }
    expect([seen, failures()]).toEqual([[1, 2, 3, 4, 5], 6]);
  });

  it('is not tried for each change of endpoints, and leads to the last ones once it is free', async () => {
    await programmed([entry('web', 30080, ['10.1.1.2'])]);
    expect(metrics.of('localhostListenerFailed')).toHaveLength(1);
    relay.busy.clear();
    await clock.advanceAsync(1_000);
    expect(relay.open).toEqual(['30080 > 10.1.1.2:8080']);
    expect(reported.at(-1)).toBe('shop/web/tcp/ fine');
    expect(logger.at('info')).toMatchObject([
      { facts: { service: keyOf('web'), address: '127.0.0.1:30080' } },
    ]);
    await programmed([entry('web', 30080, [])]);
    await programmed([entry('web', 30080, ['10.1.1.2'])]);
    expect([logger.at('info').length, reported.length]).toEqual([1, 2]);
  });

  it('is no longer reported of a service port that does not need it', async () => {
    await programmed([entry('api', 30080, ['10.1.1.3'])]);
    expect(reported.slice(1)).toEqual(['shop/web/tcp/ fine', 'shop/api/tcp/ port 30080 is in use']);
    await programmed([gone('api'), gone('web')]);
    expect(reported.at(-1)).toBe('shop/api/tcp/ fine');
    relay.busy.clear();
    await clock.advanceAsync(60_000);
    expect(relay.history).toEqual([]);
    await programmed([entry('web', 30080, ['10.1.1.1'])]);
    expect(relay.open).toEqual(['30080 > 10.1.1.1:8080']);
  });

  it('is not held against a service port that left it while it was tried', async () => {
    ports.programmed({ changes: [gone('web')], failed: new Set(), network: RELAYED });
    relay.busy.add(30081);
    ports.programmed({ changes: [entry('a', 30081, ['10.1.1.1'])], failed: new Set(), network: RELAYED });
    // The first attempt has begun.
    await Promise.resolve();
    await programmed([gone('a'), entry('b', 30081, ['10.1.1.2'])]);
    expect(reported.filter((line) => !line.startsWith(keyOf('web')))).toEqual([]);
    await clock.advanceAsync(1_000);
    expect(reported.at(-1)).toBe('shop/b/tcp/ port 30081 is in use');
  });
});
