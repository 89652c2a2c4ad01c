import { ForwardingObstacles } from '../../../src/application/node/forwarding-obstacles.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryForwarding, MemoryRoutes } from '../../support/memory-forwarding.js';
import { rawService, rawSlice } from '../../support/objects.js';
import { SeenCluster } from '../../support/seen-cluster.js';

const OFF = 'net.ipv4.ip_forward is 0';
const UNFILTERED = 'net.bridge.bridge-nf-call-iptables is 0';
const ROUTES = {
  '10.1.0.5': { device: 'cni0' },
  '10.1.0.6': { device: 'cni0' },
  '10.2.0.7': { device: 'eth0', gateway: '192.0.2.9' },
  '10.3.0.8': { device: 'veth8' },
};

let clock: FakeClock;
let logger: MemoryLogger;
let forwarding: MemoryForwarding;
let routes: MemoryRoutes;
let cluster: SeenCluster;
let obstacles: ForwardingObstacles;
let changes: number;
let listAddresses: () => readonly string[];

beforeEach(() => {
  listAddresses = () => ['192.0.2.4', '127.0.0.1'];
  clock = new FakeClock();
  logger = new MemoryLogger();
  forwarding = new MemoryForwarding();
  routes = new MemoryRoutes(ROUTES);
  cluster = new SeenCluster();
  const sources = { forwarding, routes, addresses: { list: () => listAddresses() } };
  changes = 0;
  obstacles = new ForwardingObstacles(cluster.loops, sources, clock, logger, () => changes++);
});

/** A Service with endpoints, of which some are on this node. */
function serve(...addresses: readonly (readonly [address: string, node: string])[]): void {
  const endpoints = addresses.map(([address, nodeName]) => ({ addresses: [address], nodeName }));
  cluster.deliver([rawService()], [rawSlice({ endpoints })]);
}

const found = async (): Promise<readonly string[]> => {
  clock.advance(2_000);
  await obstacles.renew();
  return obstacles.reasons;
};

describe('a kernel that forwards nothing', () => {
  it('is an obstacle once a Service has an endpoint that is no process on an address of this node', async () => {
    forwarding.off.set('IPv4', OFF);
    expect(await found()).toEqual([]);
    serve(['192.0.2.4', 'n1']);
    expect(await found()).toEqual([]);
    serve(['192.0.2.4', 'n1'], ['10.2.0.7', 'n2']);
    expect(await found()).toEqual([
      `IPv4: ${OFF}: packets of pods and of other machines are not forwarded to endpoints; set it to 1`,
    ]);
    forwarding.off.clear();
    expect(await found()).toEqual([]);
  });

  it('is known of each service port that it stops, and changes of it are reported', async () => {
    forwarding.off.set('IPv4', OFF);
    serve(['10.2.0.7', 'n2']);
    const [entry] = cluster.loops[0]!.table.entries();
    expect([obstacles.known(entry!), changes]).toEqual([[], 0]);
    await found();
    await found();
    expect(obstacles.known(entry!)).toMatchObject([{ kind: 'not-forwarded' }]);
    expect(obstacles.known({ ...entry!, family: 'IPv6' })).toEqual([]);
    expect(changes).toBe(1);
    forwarding.off.clear();
    await found();
    expect([obstacles.known(entry!), changes]).toEqual([[], 2]);
  });

  it('is none for a family without Services', async () => {
    forwarding.off.set('IPv6', 'net.ipv6.conf.all.forwarding is 0');
    serve(['10.2.0.7', 'n2']);
    expect(await found()).toEqual([]);
  });

  it('is logged once when it begins and once when it ends', async () => {
    serve(['10.2.0.7', 'n2']);
    forwarding.off.set('IPv4', OFF);
    for (let count = 0; count < 3; count++) await found();
    forwarding.off.clear();
    for (let count = 0; count < 3; count++) await found();
    expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'a kernel setting stops traffic to Services'],
      ['info', 'a kernel setting no longer stops traffic to Services'],
    ]);
  });
});

describe('a bridge whose packets meet no rules', () => {
  it('is an obstacle where pods of this node are on it', async () => {
    forwarding.unfiltered.set('cni0', UNFILTERED);
    serve(['10.2.0.7', 'n2'], ['10.3.0.8', 'n1']);
    expect(await found()).toEqual([]);
    serve(['10.2.0.7', 'n2'], ['10.1.0.5', 'n1']);
    expect(await found()).toEqual([
      expect.stringContaining(`IPv4: ${UNFILTERED}: replies between pods on bridge cni0`),
    ]);
  });

  it('is none where the pods are behind a gateway', async () => {
    forwarding.unfiltered.set('eth0', UNFILTERED);
    serve(['10.2.0.7', 'n1']);
    expect(await found()).toEqual([]);
  });

  it('is looked for by few routes, however many endpoints there are', async () => {
    const addresses = Array.from({ length: 200 }, (_, index) => [`10.9.0.${index + 1}`, 'n1'] as const);
    serve(...addresses);
    expect(await found()).toEqual([]);
    expect(routes.lookups).toBeLessThanOrEqual(16);
  });
});

it('is unknown, and no failure, while the addresses of the node cannot be read', async () => {
  serve(['10.2.0.7', 'n2']);
  forwarding.off.set('IPv4', OFF);
  const readable = listAddresses;
  listAddresses = () => {
    throw new Error('looking for the device kube-ipvs0 was rejected');
  };
  expect(await found()).toEqual([]);
  listAddresses = readable;
  expect(await found()).toEqual([expect.stringContaining(OFF)]);
});

it('is checked again for those who ask, at most once a second, and once a minute for the log', async () => {
  serve(['10.2.0.7', 'n2']);
  obstacles.start();
  await clock.advanceAsync(0);
  forwarding.off.set('IPv4', OFF);
  await obstacles.renew();
  expect(obstacles.reasons).toEqual([]);
  await clock.advanceAsync(60_000);
  expect(obstacles.reasons).toHaveLength(1);
  await obstacles.stop();
  expect([clock.pending, forwarding.isClosed]).toEqual([0, true]);
});

it('that cannot be read are taken to be right', async () => {
  serve(['10.1.0.5', 'n1']);
  routes.to = () => Promise.reject(new Error('EPERM'));
  expect(await found()).toEqual([]);
  expect(logger.at('warn')).toEqual([]);
});

describe('the obstacles of one service port', () => {
  const entry = () => cluster.loops[0]!.table.entriesOf('shop/cart')[0]!;

  it('affect endpoints elsewhere, or pods of this node', async () => {
    serve(['192.0.2.4', 'n1'], ['10.2.0.7', 'n2'], ['10.1.0.5', 'n1']);
    const affected = async () => {
      const [obstacle] = await obstacles.of(entry());
      const endpoints = entry().endpoints.reachable.filter((one) => obstacle?.affects(one));
      return [obstacle?.kind, endpoints.map(({ address }) => address).sort()];
    };
    expect(await affected()).toEqual([undefined, []]);
    forwarding.unfiltered.set('cni0', UNFILTERED);
    expect(await affected()).toEqual(['bridged', ['10.1.0.5']]);
    forwarding.off.set('IPv4', OFF);
    expect(await affected()).toEqual(['not-forwarded', ['10.1.0.5', '10.2.0.7']]);
  });
});

it('is looked for once a minute until it is stopped, and no more', async () => {
  obstacles.start();
  expect(clock.pending).toBe(1);
  await obstacles.stop();
  obstacles.start();
  expect(clock.pending).toBe(0);
});
