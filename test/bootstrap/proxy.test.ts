import { parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import type { OpenMode } from '../../src/bootstrap/modes/mode.js';
import type { Providers, ProxyParts } from '../../src/bootstrap/parts.js';
import { EmbeddedProxy } from '../../src/bootstrap/embedding.js';
import { composeProxy } from '../../src/bootstrap/proxy.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryConntrack } from '../../src/testing/fakes/memory-conntrack.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../src/testing/fakes/recording-backend.js';
import { ScriptedSource } from '../../src/testing/fakes/scripted-source.js';

const ORDER = [
  'proxy mode',
  'addresses of this node',
  'healthz server',
  'traffic',
  'ejection',
  'balancing',
  'metrics',
  'metrics server',
  'service health checks',
  'conntrack',
  'conntrack reconcilers',
  'resets of dead connections',
  'packet forwarding',
  'sync loops',
  'cluster source',
  'verdicts on Services',
  'event recorder',
  'wait for the Node',
  'changes of addresses',
];

const NO_SERVERS: Partial<Providers<ProxyParts>> = {
  healthServer: () => undefined,
  metricsServer: () => undefined,
};

let clock: FakeClock;
let logger: MemoryLogger;
let backends: Map<IpFamily, RecordingBackend>;
/** How often the mode set its sysctls, and how much had been written by then. */
let setUps: number[];
let setUpProblem: Error | undefined;

beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  backends = new Map();
  setUps = [];
  setUpProblem = undefined;
});

/** As the program composes it, for both families, with a backend in memory. */
function compose(
  flags: readonly string[],
  replacements: Partial<Providers<ProxyParts>> = {},
  modeParts: Partial<OpenMode> = {},
) {
  const args = ['--proxy-mode', 'nftables', '--hostname-override', 'node1', ...flags];
  const commandLine = parseCommandLine(args, { readFile: () => '', hostname: () => 'host' });
  const mode: OpenMode = {
    name: 'nftables',
    families: ['IPv4', 'IPv6'],
    means: {},
    backend: (family) => {
      const backend = new RecordingBackend(family);
      backends.set(family, backend);
      return backend;
    },
    setUp: async () => {
      setUps.push([...backends.values()].flatMap(({ calls }) => calls).length);
      if (setUpProblem) throw setUpProblem;
    },
    close: () => Promise.resolve(),
    ...modeParts,
  };
  return composeProxy(commandLine, mode, logger, { clock: () => clock, ...replacements });
}

describe('composeProxy', () => {
  it('makes every part without any effect: nothing is opened, started or logged', () => {
    const parts = compose([]);
    const before = process.getActiveResourcesInfo();
    // What runs is made of all the others.
    expect(parts.running.map(({ name }) => name)).toEqual(ORDER);
    expect(process.getActiveResourcesInfo()).toEqual(before);
    expect([clock.pending, logger.lines]).toEqual([0, []]);
  });

  it('has no servers for metrics and health where their ports are 0', () => {
    const parts = compose(['--metrics-port=0', '--healthz-port=0']);
    expect([parts.metricsServer, parts.healthServer]).toEqual([undefined, undefined]);
    expect(parts.running.map(({ name }) => name)).toEqual(
      ORDER.filter((name) => !['healthz server', 'metrics', 'metrics server'].includes(name)),
    );
  });

  it('gives each family its own parts, and shares the others', () => {
    const parts = compose([]);
    expect(parts.served).toBe(parts.served);
    expect(
      parts.served.map(({ family, loop, healthChecks, conntrack }) => [
        family,
        loop.family,
        healthChecks!.family,
        conntrack.map(({ protocol, family: own }) => `${own} ${protocol}`),
      ]),
    ).toEqual([
      ['IPv4', 'IPv4', 'IPv4', ['IPv4 UDP', 'IPv4 TCP', 'IPv4 SCTP']],
      ['IPv6', 'IPv6', 'IPv6', ['IPv6 UDP', 'IPv6 TCP', 'IPv6 SCTP']],
    ]);
    expect([...backends.keys()]).toEqual(['IPv4', 'IPv6']);
  });
});

describe('EmbeddedProxy', () => {
  const NODE = {
    metadata: { name: 'node1' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.4' }] },
  };

  /** Without anything of this machine. */
  const from = (source: ScriptedSource, ...flags: readonly string[]): EmbeddedProxy =>
    new EmbeddedProxy(
      compose(flags, {
        ...NO_SERVERS,
        source: () => source,
        conntrack: () => new MemoryConntrack(),
        forwardingObstacles: () => undefined,
        localAddresses: () => ({ list: () => ['192.0.2.4'] }),
        eventRecorder: () => ({ record: () => undefined }),
      }),
    );

  describe('sets the machine up', () => {
    it('once, before the first rule, and not before everything is listed', async () => {
      const source = new ScriptedSource();
      source.apply('Node', NODE);
      const proxy = from(source);
      await proxy.start();
      await clock.advanceAsync(60_000);
      expect(setUps).toEqual([]);
      source.synced();
      await clock.advanceAsync(0);
      expect(setUps).toEqual([0]);
      for (const backend of backends.values())
        expect(backend.calls.map(({ method }) => method)).toEqual(['start']);
      await proxy.stop();
    });

    it('not when there is no cluster', async () => {
      await expect(from(new ScriptedSource(new Error('no such cluster'))).start()).rejects.toThrow('no such');
      expect(setUps).toEqual([]);
    });

    it('not when the configuration does not fit the Node', async () => {
      const source = new ScriptedSource();
      source.apply('Node', { ...NODE, spec: { podCIDRs: [] } });
      source.synced();
      const proxy = from(source, '--detect-local-mode', 'NodeCIDR');
      await proxy.start();
      await clock.advanceAsync(6 * 60_000);
      await expect(proxy.failure).rejects.toThrow('PodCIDR');
      expect(setUps).toEqual([]);
      await proxy.stop();
    });

    it('or fails, and writes nothing', async () => {
      setUpProblem = new Error('read-only');
      const source = new ScriptedSource();
      source.apply('Node', NODE);
      source.synced();
      const proxy = from(source);
      await proxy.start();
      await expect(proxy.failure).rejects.toThrow('read-only');
      expect([...backends.values()].flatMap(({ calls }) => calls)).toEqual([]);
      await proxy.stop();
    });
  });

  it('starts its parts in this order', () => {
    expect(new EmbeddedProxy(compose([])).parts).toEqual(ORDER);
  });

  it('has no part that the configuration does not ask for', () => {
    const proxy = new EmbeddedProxy(compose(['--once'], NO_SERVERS));
    const absent = [
      'healthz server',
      'traffic',
      'ejection',
      'balancing',
      'metrics',
      'metrics server',
      'service health checks',
    ];
    expect(proxy.parts).toEqual(ORDER.filter((name) => !absent.includes(name)));
  });

  it.each([
    ['only if that is requested', [], {}, false],
    ['in nftables mode', ['--check-forwarding'], {}, true],
    ['in iptables mode', ['--check-forwarding'], { name: 'iptables' }, true],
    ['not in userspace mode', ['--check-forwarding'], { name: 'userspace' }, false],
    ['not with backends of another program', ['--check-forwarding'], { isEmbedded: true }, false],
    ['not before it ends', ['--check-forwarding', '--once'], {}, false],
  ] as const)('checks forwarding %s', (_, flags, mode, expected) => {
    const parts = compose(flags, {}, mode);
    expect(parts.checkForwarding !== undefined).toBe(expected);
    expect(parts.running.some(({ name }) => name === 'checks of forwarding')).toBe(expected);
  });

  it.each([
    ['is turned off', ['--reset-dead-connections=false'], {}],
    ['works otherwise, as in mode userspace', [], { name: 'userspace' }],
  ] as const)('resets no connections where that %s', (_, flags, mode) => {
    const parts = compose(flags, { mode: () => ({ ...compose([]).mode, ...mode }) });
    expect(parts.running.map(({ name }) => name)).toEqual(
      ORDER.filter((name) => name !== 'resets of dead connections'),
    );
  });

  it('starts the families together when everything is listed, and stops all of them', async () => {
    const source = new ScriptedSource();
    source.apply('Node', NODE);
    source.synced();
    const proxy = from(source);
    await proxy.start();
    await clock.advanceAsync(0);
    for (const backend of backends.values())
      expect(backend.calls.map(({ method }) => method)).toEqual(['start']);
    const [line] = logger.at('debug').filter(({ facts }) => 'parts' in facts);
    expect(line!.facts).toMatchObject({ parts: proxy.parts });
    await proxy.stop();
    expect([source.running, clock.pending]).toEqual([false, 0]);
  });

  it('starts with every keyword among node port addresses, and serves those that the mode can', async () => {
    const source = new ScriptedSource();
    source.apply('Node', NODE);
    source.synced();
    const proxy = from(source, '--nodeport-addresses=primary,localhost');
    await proxy.start();
    await clock.advanceAsync(0);
    expect([...backends.values()].map(({ node }) => node!.nodePortIPs)).toEqual([['192.0.2.4'], []]);
    await proxy.stop();
  });

  it('stops what was started when a part cannot start', async () => {
    const source = new ScriptedSource(new Error('no such cluster'));
    const closed: string[] = [];
    const addresses = {
      list: () => [],
      close: () => void closed.push('close'),
    };
    const proxy = new EmbeddedProxy(
      compose([], {
        ...NO_SERVERS,
        source: () => source,
        localAddresses: () => addresses,
      }),
    );
    await expect(proxy.start()).rejects.toThrow('no such cluster');
    expect(closed).toEqual(['close']);
  });
});
