import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryConntrack, type MemoryFlow } from '../../../src/testing/fakes/memory-conntrack.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingMetrics } from '../../support/fakes/recording-metrics.js';
import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import { ReconcileConntrack } from '../../../src/application/use-cases/reconcile-conntrack.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { Sync } from '../../../src/application/use-cases/sync.js';
import type { ApplyResult, Backend } from '../../../src/application/ports/backend.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { EndpointSlice } from '../../../src/domain/model/endpoint-slice.js';
import type { Service } from '../../../src/domain/model/service.js';
import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { PendingChanges } from '../../../src/domain/state/pending-changes.js';
import { service as sampleService, slice as sampleSlice, sliceEndpoint } from '../../support/samples.js';

const anyUdp = { protocol: 'UDP', unreplied: false };
const nodeIP = '192.0.2.11';

interface Conditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

function service(
  name: string,
  clusterIP: string,
  more: Partial<Service> = {},
  protocol: Protocol = 'UDP',
): Service {
  const ports = [{ name: '', protocol, port: 53, nodePort: 0 }];
  return sampleService({ namespace: 'default', name, clusterIPs: { IPv4: clusterIP }, ports, ...more });
}

function slice(
  name: string,
  endpoints: Record<string, Conditions>,
  protocol: Protocol = 'UDP',
): EndpointSlice {
  const addresses = Object.entries(endpoints).map(([address, conditions]) =>
    sliceEndpoint(address, conditions),
  );
  const ports = [{ name: '', protocol, port: 5353 }];
  return sampleSlice(`${name}-1`, addresses, { namespace: 'default', service: name, ports });
}

/** A family that syncs into a backend, which accepts everything except what a test refuses. */
class World {
  readonly state = new ClusterState();
  readonly pending = new PendingChanges();
  readonly conntrack = new MemoryConntrack();
  readonly metrics = new RecordingMetrics();
  readonly clock = new FakeClock();
  readonly logger = new MemoryLogger();
  readonly refused = new Set<string>();
  nodePortIPs: NodeNetwork['nodePortIPs'] = 'all';
  localhostNodePorts = false;
  broken = false;
  lost: ApplyResult['lost'];
  /** Why this machine's addresses cannot be read. */
  addressesUnread: Error | undefined;
  /** A change is in the kernel when this is called, though the backend has not said so yet. */
  underWay: () => Promise<void> = async () => undefined;
  repairs = 0;
  readonly reconciler: ReconcileConntrack;
  private readonly family: Sync;
  private readonly backend: Backend = {
    mode: 'memory',
    family: 'IPv4',
    start: async (entries) => this.take([...entries].map(({ key }) => key)),
    apply: async (changes: readonly ForwardingChange[]) => {
      await this.underWay();
      return this.take(changes.map(({ key }) => key));
    },
    verify: async () => ({ ...this.take([]), written: this.repairs, compared: true }),
    cleanup: async () => undefined,
    close: async () => undefined,
  };

  constructor(protocol: Protocol) {
    const addresses = {
      list: () => {
        if (this.addressesUnread) throw this.addressesUnread;
        return ['127.0.0.1', nodeIP, 'fd00::1'];
      },
    };
    const { conntrack, metrics, clock, logger } = this;
    this.reconciler = new ReconcileConntrack('IPv4', protocol, conntrack, addresses, metrics, clock, logger);
    this.family = new Sync(
      this.state,
      this.backend,
      {
        of: () => ({
          forwarding: {
            family: 'IPv4',
            topology: { nodeName: 'node1', zone: '', nodeHints: false },
            nodeIP,
            externalIPsAllowed: true,
          },
          network: {
            family: 'IPv4',
            detector: undefined,
            masqueradeBit: 14,
            masqueradeAll: false,
            nodePortIPs: this.nodePortIPs,
            localhostNodePorts: this.localhostNodePorts,
            serviceCIDRs: [],
          },
        }),
      },
      new ServiceStatuses(),
      this.clock,
      this.logger,
      this.reconciler,
    );
  }

  apply(...objects: (Service | EndpointSlice)[]): void {
    for (const object of objects) {
      if ('clusterIPs' in object) this.state.applyService(object);
      else this.state.applySlice(object);
      this.pending.serviceChanged(`default/${'service' in object ? object.service : object.name}`);
    }
  }

  remove(name: string): void {
    this.state.removeService(`default/${name}`);
    this.pending.serviceChanged(`default/${name}`);
  }

  sync(): Promise<unknown> {
    return this.family.program(this.pending.dequeue());
  }

  verify(): Promise<unknown> {
    return this.family.verify('full', new AbortController().signal);
  }

  /** Syncs and lets the reconciliation that is due run. */
  async settle(): Promise<void> {
    await this.sync();
    await this.clock.advanceAsync(0);
  }

  /** Settles, and forgets what has been logged and counted until then. */
  async begin(...objects: (Service | EndpointSlice)[]): Promise<void> {
    this.apply(...objects);
    await this.settle();
    await this.clock.advanceAsync(2000);
    this.logger.clear();
    this.metrics.calls.length = 0;
    this.conntrack.sweeps.length = 0;
  }

  track(destination: string, port: number, replySource: string, more: Partial<MemoryFlow> = {}): void {
    this.conntrack.track('IPv4', destination, port, replySource, more);
  }

  get tracked(): string[] {
    return [...this.conntrack.flows.IPv4].map(
      ({ destination, destinationPort, replySource }) => `${destination}:${destinationPort} ${replySource}`,
    );
  }

  private take(keys: readonly string[]): ApplyResult {
    if (this.broken) throw new Error('the kernel is out of sorts');
    const failed = keys.filter((key) => this.refused.has(key)).map((key) => ({ key, reason: 'refused' }));
    return { written: keys.length, failed, ...(this.lost && { lost: this.lost }) };
  }
}

let world: World;
beforeEach(() => (world = new World('UDP')));
afterEach(async () => {
  await world.reconciler.stop();
  expect(world.clock.pending).toBe(0);
});

describe('at start', () => {
  it('looks at every UDP flow once, and keeps what is right', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.track('10.96.0.10', 53, '10.0.0.9:5353');
    world.track('10.96.0.77', 53, '10.0.0.9:5353');
    world.apply(service('dns', '10.96.0.10'), slice('dns', { '10.0.0.1': {} }));
    await world.settle();
    expect(world.tracked).toEqual(['10.96.0.10:53 10.0.0.1:5353', '10.96.0.77:53 10.0.0.9:5353']);
    expect(world.conntrack.sweeps).toEqual([{ family: 'IPv4', query: anyUdp }]);
    expect(world.metrics.of('conntrackReconciled')).toEqual([
      ['IPv4', 'UDP', { seconds: 0, deleted: 1, reasons: { 'endpoint gone': 1 } }],
    ]);
    expect(world.logger.at('debug')).toEqual([
      expect.objectContaining({
        facts: expect.objectContaining({ deleted: 1, examined: 3, reasons: { 'endpoint gone': 1 } }),
      }),
    ]);
  });

  it('removes the flows of frontends that an earlier process left, though no UDP service is left at all', async () => {
    world.track('10.96.0.77', 53, '10.0.0.9:5353');
    world.track('10.96.0.77', 54, '10.0.0.9:5353');
    world.track(nodeIP, 30053, '10.0.0.9:5353');
    world.lost = [
      { address: '10.96.0.77', port: 53 },
      { address: '', port: 30053 },
    ];
    await world.settle();
    expect(world.tracked).toEqual(['10.96.0.77:54 10.0.0.9:5353']);
    expect(world.conntrack.sweeps.map(({ query }) => query)).toEqual([
      { ...anyUdp, port: 53, address: '10.96.0.77' },
      { ...anyUdp, port: 30053 },
    ]);
  });

  it.each([
    ['by a repair', 1],
    ['before it', 0],
  ])(
    'removes the flows of those that could not be removed at the start, once they are: %s',
    async (_, steps) => {
      world.track('10.96.0.77', 53, '10.0.0.9:5353');
      world.lost = [];
      await world.settle();
      expect(world.tracked).toHaveLength(1);
      world.lost = [{ address: '10.96.0.77', port: 53 }];
      world.repairs = steps;
      await world.verify();
      await world.clock.advanceAsync(0);
      expect(world.tracked).toEqual([]);
    },
  );

  it.each([
    ['removes them where node ports are served there', true, 0],
    ['keeps them elsewhere', false, 1],
  ])('flows to 127.0.0.1 through a node port that is gone: %s', async (_, localhostNodePorts, kept) => {
    world.localhostNodePorts = localhostNodePorts;
    world.track('127.0.0.1', 30053, '10.0.0.9:5353');
    world.lost = [{ address: '', port: 30053 }];
    await world.settle();
    expect(world.tracked).toHaveLength(kept);
  });

  it('examines nothing when there is no UDP Service', async () => {
    world.apply(service('web', '10.96.0.10', {}, 'TCP'), slice('web', { '10.0.0.1': {} }, 'TCP'));
    await world.settle();
    expect(world.conntrack.sweeps).toEqual([]);
    await world.reconciler.inSync();
  });
});

describe('after a change', () => {
  const nodePort = { ports: [{ name: '', protocol: 'UDP' as const, port: 53, nodePort: 30053 }] };
  const external = { externalIPs: [{ family: 'IPv4' as const, text: '203.0.113.5' }] };

  beforeEach(() =>
    world.begin(
      service('dns', '10.96.0.10', { ...nodePort, ...external }),
      slice('dns', { '10.0.0.1': {}, '10.0.0.2': {} }),
      service('log', '10.96.0.20'),
      slice('log', { '10.0.0.3': {} }),
      service('web', '10.96.0.30', {}, 'TCP'),
      slice('web', { '10.0.0.1': {} }, 'TCP'),
    ),
  );

  it('moves flows off an endpoint that is gone, through every frontend, and asks only for what changed', async () => {
    for (const endpoint of ['10.0.0.1:5353', '10.0.0.2:5353']) {
      world.track('10.96.0.10', 53, endpoint);
      world.track('203.0.113.5', 53, endpoint);
      world.track(nodeIP, 30053, endpoint);
    }
    world.apply(slice('dns', { '10.0.0.2': {} }));
    await world.settle();
    expect(world.tracked).toEqual([
      '10.96.0.10:53 10.0.0.2:5353',
      '203.0.113.5:53 10.0.0.2:5353',
      `${nodeIP}:30053 10.0.0.2:5353`,
    ]);
    expect(world.conntrack.sweeps.map(({ query }) => query)).toEqual([
      { ...anyUdp, port: 53 },
      { ...anyUdp, port: 30053 },
    ]);
    expect(world.metrics.of('conntrackReconciled')).toEqual([
      ['IPv4', 'UDP', { seconds: 0, deleted: 3, reasons: { 'endpoint gone': 3 } }],
    ]);
  });

  it.each<[string, Conditions, boolean]>([
    ['serves while it terminates', { ready: false, serving: true, terminating: true }, true],
    ['is taken as ready though it does not serve', { ready: true, serving: false }, true],
    ['does not serve', { ready: false, serving: false }, false],
  ])('an endpoint that %s: its flows stay or go', async (_, conditions, stays) => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.apply(slice('dns', { '10.0.0.1': conditions, '10.0.0.2': {} }));
    await world.settle();
    expect(world.tracked).toHaveLength(stays ? 1 : 0);
  });

  it.each<[string, () => void]>([
    ['scaled to zero', () => world.apply(slice('dns', {}))],
    ['deleted', () => world.remove('dns')],
    ['moved to another cluster IP, port and no node port', () => world.apply(service('dns', '10.96.0.11'))],
  ])('a service that is %s loses its flows', async (_, change) => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.track('203.0.113.5', 53, '10.0.0.2:5353');
    world.track(nodeIP, 30053, '10.0.0.2:5353');
    world.track('10.96.0.20', 53, '10.0.0.3:5353');
    change();
    await world.settle();
    expect(world.tracked).toEqual(['10.96.0.20:53 10.0.0.3:5353']);
  });

  it('removes only what a frontend had that is gone', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.track('203.0.113.5', 53, '10.0.0.1:5353');
    world.track('203.0.113.5', 53, '203.0.113.5:53');
    world.track('198.51.100.7', 30053, '198.51.100.7:30053');
    world.apply(service('dns', '10.96.0.10'));
    await world.settle();
    expect(world.tracked).toEqual([
      '10.96.0.10:53 10.0.0.1:5353',
      '203.0.113.5:53 203.0.113.5:53',
      '198.51.100.7:30053 198.51.100.7:30053',
    ]);
  });

  it('does nothing when endpoints only come, and for other protocols', async () => {
    world.apply(slice('dns', { '10.0.0.1': {}, '10.0.0.2': {}, '10.0.0.5': {} }), slice('web', {}, 'TCP'));
    await world.settle();
    expect(world.conntrack.sweeps).toEqual([]);
    expect(world.metrics.of('conntrackReconciled')).toEqual([]);
  });

  it('is quiet when nothing is stale', async () => {
    world.apply(slice('dns', { '10.0.0.2': {} }));
    await world.settle();
    expect(world.conntrack.sweeps).not.toEqual([]);
    expect(world.logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('leaves alone what could not be programmed, until it is', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.refused.add('default/dns/udp/');
    world.apply(slice('dns', { '10.0.0.2': {} }));
    await world.settle();
    expect(world.tracked).toHaveLength(1);
    world.refused.clear();
    world.pending.serviceChanged('default/dns');
    await world.settle();
    expect(world.tracked).toEqual([]);
  });

  it('takes it that nothing leads to what could not be programmed', async () => {
    world.refused.add('default/dns/udp/');
    world.apply(slice('dns', { '10.0.0.4': {} }));
    await world.settle();
    world.track('10.96.0.10', 53, '10.0.0.4:5353');
    world.repairs = 1;
    await world.verify();
    await world.clock.advanceAsync(0);
    expect(world.tracked).toEqual([]);
  });

  it('learns after a failed sync what went with it', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.broken = true;
    world.remove('dns');
    await expect(world.sync()).rejects.toThrow('out of sorts');
    await world.clock.advanceAsync(0);
    expect(world.tracked).toHaveLength(1);
    world.broken = false;
    world.pending.everyServiceChanged();
    await world.settle();
    expect(world.tracked).toEqual([]);
    expect(world.conntrack.sweeps.map(({ query }) => query)).toEqual([
      { ...anyUdp, port: 53 },
      { ...anyUdp, port: 30053 },
    ]);
  });

  it('looks at everything after a repair of the rules', async () => {
    world.track('10.96.0.10', 53, '10.96.0.10:53');
    await world.verify();
    await world.clock.advanceAsync(0);
    expect(world.conntrack.sweeps).toEqual([]);
    world.repairs = 3;
    await world.verify();
    await world.clock.advanceAsync(0);
    expect(world.tracked).toEqual([]);
    expect(world.conntrack.sweeps).toEqual([{ family: 'IPv4', query: anyUdp }]);
  });

  it('follows the addresses that take node ports', async () => {
    world.nodePortIPs = ['192.0.2.11', '192.0.2.12'];
    await world.settle();
    world.track('192.0.2.11', 30053, '10.0.0.1:5353');
    world.track('192.0.2.12', 30053, '10.0.0.1:5353');
    world.track('192.0.2.13', 30053, '192.0.2.13:30053');
    world.nodePortIPs = ['192.0.2.11', '192.0.2.13'];
    await world.sync();
    await world.clock.advanceAsync(1000);
    expect(world.tracked).toEqual(['192.0.2.11:30053 10.0.0.1:5353']);
  });
});

describe('when and how often', () => {
  beforeEach(() =>
    world.begin(
      service('dns', '10.96.0.10'),
      slice('dns', { '10.0.0.1': {}, '10.0.0.2': {}, '10.0.0.3': {} }),
    ),
  );

  it('does not hold up syncs, and settles what comes while it runs in one more run, after a rest as long', async () => {
    let open!: () => void;
    world.conntrack.gate = new Promise((resolve) => (open = resolve));
    for (const endpoint of ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
      world.track('10.96.0.10', 53, `${endpoint}:5353`);
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    world.apply(slice('dns', { '10.0.0.3': {} }));
    await world.settle();
    world.apply(slice('dns', {}));
    await world.settle();
    expect(world.conntrack.sweeps).toHaveLength(1);
    const inSync = world.reconciler.inSync();
    await world.clock.advanceAsync(400);
    open();
    await world.clock.advanceAsync(399);
    expect(world.conntrack.sweeps).toHaveLength(1);
    await world.clock.advanceAsync(1);
    await inSync;
    expect(world.conntrack.sweeps).toHaveLength(2);
    expect(world.tracked).toEqual([]);
  });

  it('spares flows to what is on its way into the kernel, until that failed', async () => {
    let open!: () => void;
    world.conntrack.gate = new Promise((resolve) => (open = resolve));
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    expect(world.conntrack.sweeps).toHaveLength(1);
    world.underWay = async () => {
      world.track('10.96.0.10', 53, '10.0.0.4:5353');
      world.track('10.96.0.10', 53, '10.0.0.1:5353');
      open();
      await world.clock.advanceAsync(0);
    };
    world.apply(slice('dns', { '10.0.0.4': {} }));
    world.refused.add('default/dns/udp/');
    await world.sync();
    expect(world.tracked).toEqual(['10.96.0.10:53 10.0.0.4:5353']);

    world.underWay = async () => undefined;
    world.apply(slice('dns', { '10.0.0.3': {} }));
    world.refused.clear();
    await world.settle();
    await world.clock.advanceAsync(1000);
    expect(world.tracked).toEqual([]);
  });

  it('tries again after a failure, later each time, and sooner when something comes', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.conntrack.faults.push({ thrown: new Error('no luck') }, { problem: new Error('interrupted') });
    world.track('10.96.0.10', 53, '10.0.0.9:5353');
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    await world.reconciler.inSync();
    expect(world.tracked).toHaveLength(2);
    await world.clock.advanceAsync(999);
    expect(world.conntrack.sweeps).toHaveLength(1);
    await world.clock.advanceAsync(1);
    expect(world.tracked).toEqual([]);
    expect(world.metrics.of('conntrackReconciled').map(([, , outcome]) => outcome)).toMatchObject([
      { deleted: 0 },
      { deleted: 2 },
    ]);
    await world.clock.advanceAsync(1000);
    expect(world.conntrack.sweeps).toHaveLength(2);
    world.apply(slice('dns', { '10.0.0.3': {} }));
    await world.settle();
    await world.clock.advanceAsync(1000);
    expect(world.conntrack.sweeps).toHaveLength(3);
    expect(world.logger.at('warn').map(({ facts }) => facts.attempt)).toEqual([1, 2]);
    await world.clock.advanceAsync(60_000);
    expect(world.conntrack.sweeps).toHaveLength(3);
  });

  it('tries again within a second when something comes, however long it would have waited', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.conntrack.faults.push(...Array.from({ length: 5 }, () => ({ thrown: new Error('no luck') })));
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    await world.clock.advanceAsync(1000 + 2000 + 4000);
    expect(world.conntrack.sweeps).toHaveLength(4);
    world.apply(slice('dns', { '10.0.0.3': {} }));
    await world.settle();
    await world.clock.advanceAsync(999);
    expect(world.conntrack.sweeps).toHaveLength(4);
    await world.clock.advanceAsync(1);
    expect(world.conntrack.sweeps).toHaveLength(5);
    await world.clock.advanceAsync(15_999);
    expect(world.conntrack.sweeps).toHaveLength(5);
    await world.clock.advanceAsync(60_000);
    expect(world.conntrack.sweeps).toHaveLength(6);
  });

  it('tries again when the addresses of this machine cannot be read', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.addressesUnread = new Error('listing the addresses of this node was rejected: EINTR');
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    await world.reconciler.inSync();
    expect(world.tracked).toHaveLength(1);
    world.addressesUnread = undefined;
    await world.clock.advanceAsync(1_000);
    expect(world.tracked).toEqual([]);
  });

  it('says once that the table cannot be reached, and is off', async () => {
    world.conntrack.faults.push({ thrown: new ConntrackUnavailableError('no koffi') });
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    world.apply(slice('dns', { '10.0.0.3': {} }));
    await world.settle();
    await world.clock.advanceAsync(60_000);
    await world.reconciler.inSync();
    expect(world.conntrack.sweeps).toHaveLength(1);
    expect(world.logger.at('warn')).toHaveLength(1);
    expect(world.metrics.of('conntrackReconciled')).toEqual([]);
  });

  it('ends what is under way when that takes more than a second after a stop', async () => {
    let open!: () => void;
    world.conntrack.gate = new Promise((resolve) => (open = resolve));
    world.track('10.96.0.10', 53, '10.0.0.1:5353');
    world.apply(slice('dns', { '10.0.0.2': {} }));
    await world.settle();
    const stopped = world.reconciler.stop();
    await world.clock.advanceAsync(1_000);
    open();
    await stopped;
    expect(world.tracked).toHaveLength(1);
    expect(world.logger.at('warn')).toEqual([]);
  });

  it('removes at a stop what is stale by then: the next process does not know what frontends there were', async () => {
    let open!: () => void;
    world.conntrack.gate = new Promise((resolve) => (open = resolve));
    for (const endpoint of ['10.0.0.1:5353', '10.0.0.2:5353']) world.track('10.96.0.10', 53, endpoint);
    world.apply(slice('dns', { '10.0.0.2': {}, '10.0.0.3': {} }));
    await world.settle();
    world.apply(slice('dns', { '10.0.0.3': {} }));
    await world.settle();
    const stopped = world.reconciler.stop();
    open();
    await stopped;
    expect(world.tracked).toEqual([]);
  });
});

describe.each(['TCP', 'SCTP'] as const)('connections of %s that are being opened', (protocol) => {
  const opening = { protocol, unreplied: true };
  const unreplied = { protocol, replied: false };
  const web = service('web', '10.96.0.10', {}, protocol);
  /** So long an endpoint has to answer. */
  const TIME_TO_ANSWER = 200;

  beforeEach(async () => {
    world = new World(protocol);
    await world.begin(
      web,
      slice('web', { '10.0.0.1': {}, '10.0.0.2': {} }, protocol),
      service('dns', '10.96.0.20'),
      slice('dns', { '10.0.0.3': {} }),
    );
  });

  it('leave an endpoint that is gone, and nothing else does', async () => {
    const stays: [string, Partial<MemoryFlow>][] = [
      ['10.0.0.1:5353', { protocol, replied: true }],
      ['10.0.0.2:5353', unreplied],
      ['10.0.0.1:5353', { protocol: 'UDP', replied: false }],
    ];
    for (const [endpoint, more] of [...stays, ['10.0.0.1:5353', unreplied] as const])
      world.track('10.96.0.10', 53, endpoint, more);
    world.apply(slice('web', { '10.0.0.2': {} }, protocol));
    await world.settle();
    await world.clock.advanceAsync(TIME_TO_ANSWER);
    expect([...world.conntrack.flows.IPv4]).toMatchObject(
      stays.map(([replySource, more]) => ({ replySource, ...more })),
    );
    expect(world.conntrack.sweeps.map(({ query }) => query)).toEqual([
      { ...opening, port: 53, address: '10.96.0.10' },
    ]);
    expect(world.metrics.of('conntrackReconciled')).toEqual([
      ['IPv4', protocol, { seconds: 0, deleted: 1, reasons: { 'endpoint gone': 1 } }],
    ]);
  });

  it('have a moment to be answered by an endpoint that was taken off and lives', async () => {
    world.track('10.96.0.10', 53, '10.0.0.1:5353', unreplied);
    world.apply(slice('web', { '10.0.0.2': {} }, protocol));
    await world.settle();
    await world.clock.advanceAsync(TIME_TO_ANSWER - 1);
    expect(world.conntrack.sweeps).toEqual([]);
    const inSync = world.reconciler.inSync();
    await world.clock.advanceAsync(1);
    await inSync;
    expect(world.tracked).toEqual([]);
  });

  it('meet the first endpoint of a Service, and go with a Service that is deleted', async () => {
    world.apply(service('late', '10.96.0.30', {}, protocol), slice('late', {}, protocol));
    await world.settle();
    await world.clock.advanceAsync(1_000);
    world.track('10.96.0.30', 53, '10.96.0.30:53', unreplied);
    world.track('10.96.0.10', 53, '10.0.0.2:5353', unreplied);
    world.apply(slice('late', { '10.0.0.4': {} }, protocol));
    world.remove('web');
    await world.settle();
    await world.clock.advanceAsync(1_000);
    expect(world.tracked).toEqual([]);
    expect(world.metrics.of('conntrackReconciled').at(-1)).toMatchObject([
      'IPv4',
      protocol,
      { reasons: { 'never translated': 1, 'frontend gone': 1 } },
    ]);
  });

  it('are not asked for after a change of UDP, nor by what an earlier process left of it', async () => {
    world.lost = [{ address: '10.96.0.77', port: 53 }];
    world.apply(slice('dns', {}));
    await world.settle();
    await world.clock.advanceAsync(1_000);
    expect(world.conntrack.sweeps).toEqual([]);
  });

  it('are all looked at after a repair of the rules, those alone', async () => {
    world.track('10.96.0.10', 53, '10.0.0.9:5353', unreplied);
    world.repairs = 1;
    await world.verify();
    await world.clock.advanceAsync(TIME_TO_ANSWER);
    expect(world.conntrack.sweeps).toEqual([{ family: 'IPv4', query: opening }]);
    expect(world.tracked).toEqual([]);
  });

  it('are left alone after a stop', async () => {
    world.apply(slice('web', {}, protocol));
    await world.settle();
    await world.reconciler.stop();
    await world.clock.advanceAsync(1_000);
    expect(world.conntrack.sweeps).toEqual([]);
  });
});
