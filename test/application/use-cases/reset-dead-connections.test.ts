import type { ConnectionTable } from '../../../src/application/ports/node/endpoint-connections.js';
import {
  ConntrackUnavailableError,
  type WatchedProtocol,
} from '../../../src/application/ports/node/conntrack.js';
import { ResetDeadConnections } from '../../../src/application/use-cases/reset-dead-connections.js';
import type { ConnectionActivity } from '../../../src/domain/conntrack/flow.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryConntrack, type MemoryFlow } from '../../../src/testing/fakes/memory-conntrack.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingMetrics } from '../../support/fakes/recording-metrics.js';
import { FORWARDING, endpoint, service } from '../../support/samples.js';

const SECOND = 1_000;
const CLUSTER_IP = '10.96.0.10';
/** What a client that repeats its data does, and an endpoint that does not answer. */
const UNANSWERED: ConnectionActivity = { sent: true, answered: false, unacknowledged: true };
const ANSWERED: ConnectionActivity = { sent: true, answered: true, unacknowledged: false };

const clock = () => world.clock;

class World {
  readonly conntrack = new MemoryConntrack();
  readonly metrics = new RecordingMetrics();
  readonly clock = new FakeClock();
  readonly logger = new MemoryLogger();
  readonly resets: ResetDeadConnections;

  constructor(
    connectionTable?: ConnectionTable,
    private readonly watched: WatchedProtocol = 'TCP',
  ) {
    const { conntrack, metrics, clock, logger } = this;
    this.resets = new ResetDeadConnections(
      'IPv4',
      watched,
      conntrack,
      metrics,
      clock,
      logger,
      connectionTable,
    );
  }

  /** The Service web has these endpoints; undefined: it is deleted. */
  program(
    endpoints: readonly Endpoint[] | undefined,
    more: { refused?: boolean; protocol?: Protocol } = {},
  ): void {
    const { refused = false, protocol = this.watched } = more;
    const [entry] = entriesOf(endpoints ?? [], protocol);
    const { key } = entry!;
    this.resets.programmed({
      changes: [{ key, entry: endpoints && entry }],
      failed: new Set(refused ? [key] : []),
      network: {
        family: 'IPv4',
        detector: undefined,
        masqueradeBit: 14,
        masqueradeAll: false,
        nodePortIPs: 'all',
        serviceCIDRs: [],
      },
    });
  }

  /** A connection to the endpoint at which every look tells the same. */
  connect(replySource: string, look: ConnectionActivity, destination = CLUSTER_IP, port = 80): MemoryFlow {
    const { watched: protocol } = this;
    return this.conntrack.track('IPv4', destination, port, replySource, { protocol, look });
  }

  isOpen(flow: MemoryFlow): boolean {
    return this.conntrack.flows.IPv4.has(flow);
  }
}

function entriesOf(endpoints: readonly Endpoint[], protocol: Protocol): readonly ForwardingEntry[] {
  const ports = [{ name: '', protocol, port: 80, nodePort: 30080 }];
  const web = service({ name: 'web', clusterIPs: { IPv4: CLUSTER_IP }, ports });
  return forwardService(web, () => endpoints, FORWARDING);
}

const one = endpoint('10.0.0.1', { port: 8080 });
const two = endpoint('10.0.0.2', { port: 8080 });

let world: World;
beforeEach(() => {
  world = new World();
  world.program([one, two]);
});
afterEach(async () => {
  await world.resets.stop();
  expect(world.clock.pending).toBe(0);
});

it('does nothing while endpoints stay or come', async () => {
  world.connect('10.0.0.1:8080', UNANSWERED);
  world.program([one, two, endpoint('10.0.0.3', { port: 8080 })]);
  expect(clock().pending).toBe(0);
  expect(world.conntrack.searches).toEqual([]);
});

it('resets the connections of an endpoint that is gone and silent, within seconds', async () => {
  const dead = world.connect('10.0.0.1:8080', UNANSWERED);
  const throughNodePort = world.connect('10.0.0.1:8080', UNANSWERED, '192.0.2.11', 30080);
  const others = [
    world.connect('10.0.0.2:8080', UNANSWERED),
    world.connect('10.0.0.1:8080', UNANSWERED, '10.96.0.99'),
    world.connect('10.0.0.1:8080', UNANSWERED, '10.0.0.1', 8080),
  ];
  world.program([two]);
  await clock().advanceAsync(10 * SECOND);
  expect([dead, throughNodePort].filter((flow) => world.isOpen(flow))).toEqual([]);
  expect(others.filter((flow) => world.isOpen(flow))).toEqual(others);
  expect(world.conntrack.searches).toEqual([
    { family: 'IPv4', endpoints: [{ address: '10.0.0.1', port: 8080 }] },
  ]);
  expect(world.metrics.of('connectionsReset')).toEqual([['IPv4', 2]]);
  expect(world.logger.at('info')).toMatchObject([
    { facts: { deleted: 2, servicePorts: { [entriesOf([], 'TCP')[0]!.key]: 2 } } },
  ]);
});

it.each<[string, Partial<Endpoint>, boolean]>([
  ['neither ready nor serving', { ready: false, serving: false }, false],
  ['serving while it terminates', { ready: false, serving: true, terminating: true }, true],
])('an endpoint that is %s: a silent connection lasts or ends', async (_, conditions, lasts) => {
  const flow = world.connect('10.0.0.1:8080', UNANSWERED);
  world.program([{ ...one, ...conditions }, two]);
  await clock().advanceAsync(10 * SECOND);
  expect(world.isOpen(flow)).toBe(lasts);
});

it('leaves alone what is answered, and what says nothing', async () => {
  const flows = [
    world.connect('10.0.0.1:8080', ANSWERED),
    world.connect('10.0.0.1:8080', { sent: false, answered: false, unacknowledged: true }),
  ];
  world.program([two]);
  await clock().advanceAsync(300 * SECOND);
  expect(flows.filter((flow) => world.isOpen(flow))).toEqual(flows);
});

it('looks for five minutes, at what it found once, and is idle then', async () => {
  const flow = world.connect('10.0.0.1:8080', ANSWERED);
  world.program([two]);
  await clock().advanceAsync(299 * SECOND);
  expect(world.conntrack.looks.length).toBeGreaterThan(140);
  expect(world.conntrack.searches).toHaveLength(1);
  flow.look = UNANSWERED;
  await clock().advanceAsync(60 * SECOND);
  expect([world.isOpen(flow), clock().pending]).toEqual([true, 0]);
});

it('no longer watches an endpoint that serves again', async () => {
  const flow = world.connect('10.0.0.1:8080', ANSWERED);
  world.program([two]);
  await clock().advanceAsync(10 * SECOND);
  world.program([one, two]);
  flow.look = UNANSWERED;
  await clock().advanceAsync(60 * SECOND);
  expect([world.isOpen(flow), clock().pending]).toEqual([true, 0]);
});

it('does not reset at a look that began before the endpoint served again', async () => {
  const flow = world.connect('10.0.0.1:8080', UNANSWERED);
  world.program([two]);
  await clock().advanceAsync(4 * SECOND);
  let open!: () => void;
  world.conntrack.gate = new Promise((resolve) => (open = resolve));
  await clock().advanceAsync(1 * SECOND);
  world.program([one, two]);
  open();
  await clock().advanceAsync(10 * SECOND);
  expect(world.isOpen(flow)).toBe(true);
});

it('searches once for endpoints that go one after the other, and again for those that go later', async () => {
  const three = endpoint('10.0.0.3', { port: 8080 });
  world.program([one, two, three]);
  world.program([two, three]);
  world.program([three]);
  await clock().advanceAsync(10 * SECOND);
  expect(world.conntrack.searches).toEqual([{ family: 'IPv4', endpoints: [{ port: 8080 }] }]);
  const flow = world.connect('10.0.0.3:8080', UNANSWERED);
  world.program(undefined);
  await clock().advanceAsync(10 * SECOND);
  expect(world.conntrack.searches).toHaveLength(2);
  expect(world.isOpen(flow)).toBe(false);
});

it('takes no notice of what could not be programmed, and of other protocols', async () => {
  const flow = world.connect('10.0.0.1:8080', UNANSWERED);
  world.program([two], { refused: true });
  world.program([one, two], { protocol: 'UDP' });
  world.program([], { protocol: 'UDP' });
  expect(clock().pending).toBe(0);
  world.program([two]);
  await clock().advanceAsync(10 * SECOND);
  expect(world.isOpen(flow)).toBe(false);
});

it('forgets connections that ended', async () => {
  const flow = world.connect('10.0.0.1:8080', ANSWERED);
  world.program([two]);
  await clock().advanceAsync(2 * SECOND);
  world.conntrack.flows.IPv4.delete(flow);
  await clock().advanceAsync(2 * SECOND);
  const { length } = world.conntrack.looks;
  await clock().advanceAsync(60 * SECOND);
  expect(world.conntrack.looks).toHaveLength(length);
});

it('spends a twentieth of the time on looks', async () => {
  world.connect('10.0.0.1:8080', ANSWERED);
  world.program([two]);
  let open!: () => void;
  world.conntrack.gate = new Promise((resolve) => (open = resolve));
  await clock().advanceAsync(1 * SECOND);
  await clock().advanceAsync(400);
  open();
  await clock().advanceAsync(7_999);
  expect(world.conntrack.looks).toHaveLength(1);
  await clock().advanceAsync(1);
  expect(world.conntrack.looks).toHaveLength(2);
});

it('watches so many, says once that there are more, and counts them', async () => {
  for (let i = 0; i < 65_540; i++) world.connect('10.0.0.1:8080', ANSWERED);
  world.connect('10.0.0.2:8080', ANSWERED);
  world.program([two]);
  await clock().advanceAsync(1 * SECOND);
  world.program([]);
  await clock().advanceAsync(2 * SECOND);
  expect(world.conntrack.looks.map(({ length }) => length)).toEqual([65_536, 65_536]);
  expect(world.metrics.of('connectionsUnwatched')).toEqual([
    ['IPv4', 4],
    ['IPv4', 1],
  ]);
  expect(world.logger.at('warn')).toHaveLength(1);
});

it('tries again after a failure, and says so once', async () => {
  const flow = world.connect('10.0.0.1:8080', UNANSWERED);
  world.conntrack.faults.push({ thrown: new Error('no luck') }, { problem: new Error('interrupted') });
  world.program([two]);
  await clock().advanceAsync(20 * SECOND);
  expect(world.isOpen(flow)).toBe(false);
  expect(world.conntrack.searches).toHaveLength(3);
  expect(world.logger.at('warn')).toHaveLength(1);
});

it('says once that the table cannot be reached, and is off', async () => {
  world.conntrack.faults.push({ thrown: new ConntrackUnavailableError('no koffi') });
  world.program([two]);
  await clock().advanceAsync(20 * SECOND);
  world.program([]);
  await clock().advanceAsync(20 * SECOND);
  expect(world.conntrack.searches).toHaveLength(1);
  expect(world.logger.at('warn')).toHaveLength(1);
});

it('ends what is under way when it is stopped', async () => {
  const flow = world.connect('10.0.0.1:8080', UNANSWERED);
  world.program([two]);
  await clock().advanceAsync(4 * SECOND);
  let open!: () => void;
  world.conntrack.gate = new Promise((resolve) => (open = resolve));
  await clock().advanceAsync(1 * SECOND);
  world.conntrack.faults.push({ problem: new Error('met only by a look that goes on') });
  const stopped = world.resets.stop();
  open();
  await stopped;
  expect([world.isOpen(flow), world.logger.at('warn')]).toEqual([true, []]);
  expect(world.conntrack.faults).toHaveLength(1);
});

describe('where something else holds the connections, too', () => {
  let givenUp: { address: string; frontends: number }[];
  let problem: Error | undefined;
  beforeEach(() => {
    givenUp = [];
    problem = undefined;
    world = new World({
      giveUp(_family, { address }, frontends) {
        if (problem) return Promise.reject(problem);
        givenUp.push({ address, frontends: frontends.length });
        return Promise.resolve();
      },
    });
    world.program([one, two]);
  });

  it('those of an endpoint are given up together, once, and stay in the table', async () => {
    const quiet = { sent: false, answered: false, unacknowledged: false };
    const flows = [UNANSWERED, quiet].map((look) => world.connect('10.0.0.1:8080', look));
    world.program([two]);
    await clock().advanceAsync(60 * SECOND);
    expect(givenUp).toEqual([{ address: '10.0.0.1', frontends: 2 }]);
    expect(flows.every((flow) => world.isOpen(flow))).toBe(true);
    expect(world.metrics.of('connectionsReset')).toEqual([['IPv4', 2]]);
    expect(clock().pending).toBe(0);
  });

  it('none is while one of them is answered, nor while some are not watched', async () => {
    world.connect('10.0.0.1:8080', UNANSWERED);
    world.connect('10.0.0.1:8080', ANSWERED);
    world.program([two]);
    await clock().advanceAsync(60 * SECOND);
    expect(givenUp).toEqual([]);
    for (let i = 0; i < 65_537; i++) world.connect('10.0.0.2:8080', UNANSWERED);
    world.program([]);
    await clock().advanceAsync(10 * SECOND);
    expect(givenUp).toEqual([]);
  });

  it('is asked again after a failure', async () => {
    world.connect('10.0.0.1:8080', UNANSWERED);
    problem = new Error('busy');
    world.program([two]);
    await clock().advanceAsync(20 * SECOND);
    problem = undefined;
    await clock().advanceAsync(3 * SECOND);
    expect(givenUp).toHaveLength(1);
    expect(world.logger.at('warn')).toMatchObject([{ facts: { error: new Error('busy') } }]);
  });
});

describe('SCTP', () => {
  beforeEach(() => (world = new World(undefined, 'SCTP')));

  it('has packets counted as soon as there is a Service of it, and resets associations like connections', async () => {
    world.program([one, two], { protocol: 'TCP' });
    expect(world.conntrack.countsPackets).toBe(false);
    world.program([one, two]);
    expect(world.conntrack.countsPackets).toBe(true);
    const dead = world.connect('10.0.0.1:8080', UNANSWERED);
    const alive = world.connect('10.0.0.2:8080', UNANSWERED);
    const tcp = world.conntrack.track('IPv4', CLUSTER_IP, 80, '10.0.0.1:8080', {
      protocol: 'TCP',
      look: UNANSWERED,
    });
    world.program([two]);
    await clock().advanceAsync(10 * SECOND);
    expect([dead, alive, tcp].map((flow) => world.isOpen(flow))).toEqual([false, true, true]);
  });

  it('warns once where packets cannot be counted', () => {
    world.conntrack.countPackets = () => {
      throw new Error('cannot set the sysctl');
    };
    world.program([one]);
    world.program([one, two]);
    expect(world.logger.at('warn').map(({ message }) => message)).toEqual([
      'packets of SCTP associations are not counted; associations with removed endpoints will not be reset',
    ]);
  });
});
