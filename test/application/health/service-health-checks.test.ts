import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryHealthChecks } from '../../support/fakes/memory-health-checks.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingEvents } from '../../../src/testing/fakes/recording-events.js';
import { ServiceHealthChecks } from '../../../src/application/health/service-health-checks.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';

let clock: FakeClock;
let listener: MemoryHealthChecks;
let logger: MemoryLogger;
let events: RecordingEvents;
let checks: ServiceHealthChecks;
let network: NodeNetwork;
let addresses: 'all' | string[];
let proxyHealthy: boolean;

beforeEach(() => {
  clock = new FakeClock();
  listener = new MemoryHealthChecks();
  logger = new MemoryLogger();
  events = new RecordingEvents();
  network = {} as NodeNetwork;
  addresses = 'all';
  proxyHealthy = true;
  checks = new ServiceHealthChecks({
    family: 'IPv4',
    nodeName: 'n1',
    listener,
    addresses: () => addresses,
    proxyHealthy: () => proxyHealthy,
    events,
    clock,
    logger,
  });
});

const entry = (
  name: string,
  port: number,
  localReadyIPs: readonly string[],
  servicePort = '',
): ForwardingChange => {
  const key = `shop/${name}/tcp/${servicePort}`;
  return { key, entry: { key, healthCheckNodePort: port, localReadyIPs } as ForwardingEntry };
};

const plain = (name: string): ForwardingChange => ({
  key: `shop/${name}/tcp/`,
  entry: { healthCheckNodePort: 0 } as ForwardingEntry,
});

const gone = (name: string, servicePort = ''): ForwardingChange => ({
  key: `shop/${name}/tcp/${servicePort}`,
  entry: undefined,
});

async function programmed(changes: ForwardingChange[], failed: string[] = []): Promise<void> {
  checks.programmed({ changes, failed: new Set(failed), network });
  await clock.advanceAsync(0);
}

const openPorts = (): readonly number[] => listener.open.map(({ port }) => port).sort();

describe('ServiceHealthChecks', () => {
  it('opens the check of a Service that has one, and counts addresses, not ports', async () => {
    await programmed([
      entry('cart', 32111, ['10.1.1.1', '10.1.1.2'], 'http'),
      entry('cart', 32111, ['10.1.1.2'], 'https'),
      plain('web'),
    ]);
    expect(listener.open).toEqual([{ family: 'IPv4', addresses: 'all', port: 32111 }]);
    expect(listener.ask(32111)).toEqual({
      namespace: 'shop',
      name: 'cart',
      localEndpoints: 2,
      proxyHealthy: true,
    });
    expect(checks.state('shop/cart')).toEqual({ port: 32111, localEndpoints: 2, listening: true });
    expect(checks.state('shop/web')).toBeUndefined();
  });

  it('follows endpoints and the health of the proxy without reopening', async () => {
    await programmed([entry('cart', 32111, ['10.1.1.1'])]);
    const [socket] = listener.open;
    await programmed([entry('cart', 32111, [])]);
    proxyHealthy = false;
    expect(listener.ask(32111)).toMatchObject({ localEndpoints: 0, proxyHealthy: false });
    expect(listener.open[0]).toBe(socket);
  });

  it('closes when the Service goes, loses its last port, or is no longer checked', async () => {
    await programmed([entry('a', 1001, [], 'x'), entry('a', 1001, [], 'y'), entry('b', 1002, [])]);
    await programmed([gone('a', 'x')]);
    expect(openPorts()).toEqual([1001, 1002]);
    await programmed([gone('a', 'y'), plain('b')]);
    expect(openPorts()).toEqual([]);
  });

  it('lets ports change hands', async () => {
    await programmed([entry('a', 1001, ['10.1.1.1']), entry('b', 1002, ['10.1.1.1'])]);
    await programmed([entry('a', 1002, ['10.1.1.1']), entry('b', 1001, ['10.1.1.1'])]);
    expect([listener.ask(1002)?.name, listener.ask(1001)?.name]).toEqual(['a', 'b']);
    await programmed([gone('a'), entry('c', 1002, [])]);
    expect([listener.ask(1002)?.name, events.events]).toEqual(['c', []]);
  });

  it('reports a port that is in use, and takes it when it is free', async () => {
    listener.busy.add(32111);
    await programmed([entry('cart', 32111, ['10.1.1.1'])]);
    expect(events.events).toEqual([
      {
        regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
        type: 'Warning',
        reason: 'FailedToStartServiceHealthcheck',
        action: 'Listen',
        note: 'node n1 failed to start healthcheck "shop/cart" on port 32111: port 32111 is in use',
      },
    ]);
    expect(checks.state('shop/cart')).toEqual({
      port: 32111,
      localEndpoints: 1,
      listening: false,
      problem: 'port 32111 is in use',
    });
    await clock.advanceAsync(1_000);
    expect(events.events).toHaveLength(2);
    listener.busy.clear();
    await clock.advanceAsync(1_999);
    expect(openPorts()).toEqual([]);
    await clock.advanceAsync(1);
    expect(openPorts()).toEqual([32111]);
    expect(clock.pending).toBe(0);
    expect(logger.at('error')).toHaveLength(1);
    expect(checks.state('shop/cart')).toEqual({ port: 32111, localEndpoints: 1, listening: true });
  });

  it('says each time that it fails after it has listened, and starts over with its backoff', async () => {
    for (const failures of [1, 2]) {
      addresses = [`192.0.2.${failures}`];
      network = {} as NodeNetwork;
      listener.busy.add(32111);
      await programmed([entry('cart', 32111, [])]);
      expect(logger.at('error')).toHaveLength(failures);
      listener.busy.clear();
      await clock.advanceAsync(1_000);
      expect(openPorts()).toEqual([32111]);
    }
  });

  it('stops trying when the Service is gone, and tries another port at once', async () => {
    listener.busy.add(1001);
    await programmed([entry('a', 1001, []), entry('b', 1001, [])]);
    await programmed([gone('a'), entry('b', 1002, [])]);
    expect(openPorts()).toEqual([1002]);
    expect(clock.pending).toBe(0);
  });

  it('counts only what the rules lead to when a service port cannot be programmed', async () => {
    await programmed([entry('cart', 32111, ['10.1.1.1', '10.1.1.2'])]);
    await programmed([entry('cart', 32111, ['10.1.1.2', '10.1.1.3'])], ['shop/cart/tcp/']);
    expect(listener.ask(32111)?.localEndpoints).toBe(1);
    await programmed([entry('new', 32112, ['10.1.1.1'])], ['shop/new/tcp/']);
    expect(listener.ask(32112)?.localEndpoints).toBe(0);
    await programmed([entry('new', 32112, ['10.1.1.1'])]);
    expect(listener.ask(32112)?.localEndpoints).toBe(1);
  });

  it('moves with the addresses of the node, and listens nowhere when there are none', async () => {
    addresses = ['192.0.2.1'];
    await programmed([entry('cart', 32111, [])]);
    addresses = ['192.0.2.1', '192.0.2.2'];
    await programmed([]);
    expect(listener.open[0]?.addresses).toEqual(['192.0.2.1']);
    network = {} as NodeNetwork;
    await programmed([]);
    expect(listener.open).toEqual([{ family: 'IPv4', addresses: ['192.0.2.1', '192.0.2.2'], port: 32111 }]);
    addresses = [];
    network = {} as NodeNetwork;
    await programmed([]);
    expect([openPorts(), events.events]).toEqual([[], []]);
  });

  it('has closed everything when it has stopped', async () => {
    await programmed([entry('a', 1001, [])]);
    await checks.stop();
    expect(openPorts()).toEqual([]);
  });

  it('opens nothing once it stops, not even what is under way', async () => {
    listener.busy.add(1002);
    checks.programmed({
      changes: [entry('a', 1001, []), entry('b', 1002, [])],
      failed: new Set(),
      network,
    });
    await checks.stop();
    await programmed([entry('c', 1003, [])]);
    expect([openPorts(), clock.pending]).toEqual([[], 0]);
    await checks.stop();
    expect([openPorts(), clock.pending]).toEqual([[], 0]);
  });
});
