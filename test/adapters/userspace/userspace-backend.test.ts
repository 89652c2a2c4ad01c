import { userspaceBackend } from '../../support/backends.js';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { removePortals } from '../../../src/adapters/userspace/remove-portals.js';
import type {
  UserspaceBackend,
  UserspaceOptions,
} from '../../../src/adapters/userspace/userspace-backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import { serviceOf } from '../../../src/domain/model/service-port-name.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parsePortRange } from '../../../src/domain/userspace/port-allocator.js';
import { endpoint, service } from '../../support/samples.js';
import { addressOf, askTcp, freePort, HERE, named, UdpClient, udpEndpoint } from './endpoints.js';

const NODE: NodeNetwork = {
  family: 'IPv4',
  detector: undefined,
  masqueradeBit: 14,
  masqueradeAll: false,
  nodePortIPs: 'all',
  serviceCIDRs: [],
};
const EMPTY = { written: 0, failed: [] };

let clock: FakeClock;
let logger: MemoryLogger;
let iptables: MemoryIptables;
let local: string[];
let isUp: boolean;
let backend: UserspaceBackend;
let servers: Server[];

beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  iptables = new MemoryIptables();
  local = [];
  isUp = true;
  servers = [];
  backend = backendWith('');
});
afterEach(async () => {
  await backend.close();
  for (const server of servers) server.close();
});

function backendWith(
  range: string,
  { listen }: Pick<UserspaceOptions, 'listen'> = { listen: HERE },
): UserspaceBackend {
  return userspaceBackend(
    'IPv4',
    {
      listen,
      hostAddress: () => Promise.resolve(isUp ? local.at(-1) : undefined),
      portRange: parsePortRange(range)!,
      udpIdleTimeout: 250,
      random: () => 1 - Number.EPSILON,
    },
    iptables,
    iptables.watch(),
    { list: () => local },
    clock,
    logger,
  );
}

function entry(
  name: string,
  parts: Partial<Service> = {},
  endpoints: readonly Endpoint[] = [],
): ForwardingEntry {
  const [first] = forwardService(service({ name, ...parts }), () => endpoints, {
    family: 'IPv4',
    topology: { nodeName: 'n1', zone: '', nodeHints: false },
    nodeIP: HERE,
    externalIPsAllowed: true,
    everyEndpoint: true,
  });
  return first!;
}

const changed = (value: ForwardingEntry) => ({ key: value.key, entry: value });
const gone = ({ key }: ForwardingEntry) => ({ key, entry: undefined });
const at = (address: string): Partial<Service> => ({ clusterIPs: { IPv4: address } });
const port = (protocol: 'TCP' | 'UDP' | 'SCTP', nodePort = 0): Partial<Service> => ({
  ports: [{ name: '', protocol, port: 80, nodePort }],
});
const nat = (chain: string) => iptables.chain('IPv4', 'nat', `KUBE-${chain}`);
const targets = (chain: string) => nat(chain)!.map((rule) => rule.replace(/^.* -j /, ''));

/** The proxy ports in a chain, by the service addresses that lead there. */
function proxyPorts(chain = 'PORTALS-CONTAINER'): Record<string, number> {
  const found = nat(chain)!.map((rule) => /^-d (\S+)\/32 .*:(\d+)$/.exec(rule)!);
  return Object.fromEntries(found.map(([, address, number]) => [address!, Number(number)]));
}

async function listening(where: number, address = HERE): Promise<Server> {
  const server = createServer();
  servers.push(server);
  server.listen(where, address);
  await once(server, 'listening');
  return server;
}

async function endpointNamed(name: string): Promise<Endpoint> {
  const server = await named(name);
  servers.push(server);
  return endpoint(HERE, { port: addressOf(server).port });
}

describe('start', () => {
  it('opens a port for each service port, writes everything in one restore, and finds it right', async () => {
    const entries = [entry('a', at('10.96.0.1')), entry('b', { ...at('10.96.0.2'), ...port('UDP') })];
    const { written, failed } = await backend.start(entries, NODE);
    expect(failed).toEqual([]);
    expect(iptables.restores).toBe(1);
    // Five chains, five jumps, two rules for each service.
    expect(written).toBe(14);
    expect(new Set(Object.values(proxyPorts())).size).toBe(2);
    expect(proxyPorts('PORTALS-HOST')).toEqual(proxyPorts());
    expect(await backend.start(entries, NODE)).toEqual({ ...EMPTY, lost: [] });
    expect(await backend.verify('quick')).toMatchObject({ compared: false, written: 0 });
  });

  it('replaces what an earlier process left, and nothing of others', async () => {
    const left = entry('a', at('10.96.0.1'));
    await backend.start([left, entry('old', at('10.96.0.9'))], NODE);
    const before = proxyPorts();
    iptables.tamper('IPv4', '*nat\n:KUBE-SVC-X - [0:0]\n-A KUBE-SVC-X -j ACCEPT\nCOMMIT\n');
    const next = backendWith('');
    await next.start([left], NODE);
    expect(Object.keys(proxyPorts())).toEqual(['10.96.0.1']);
    expect(proxyPorts()['10.96.0.1']).not.toBe(before['10.96.0.1']);
    expect(nat('SVC-X')).toEqual(['-j ACCEPT']);
    await next.close();
  });

  it('tells which UDP frontends an earlier process had that lead nowhere now', async () => {
    const kept = entry('a', { ...at('10.96.0.1'), ...port('UDP', 30081) });
    const old = { ...at('10.96.0.9'), ...port('UDP', 30080), externalIPs: [parseAddress('198.51.100.9')!] };
    const { lost } = await backend.start([kept, entry('old', old), entry('tcp', at('10.96.0.8'))], NODE);
    expect(lost).toEqual([]);
    await backend.close();
    iptables.reopen();
    backend = backendWith('');
    expect((await backend.start([kept], NODE)).lost).toEqual([
      { address: '10.96.0.9', port: 80 },
      { address: '198.51.100.9', port: 80 },
      { address: '', port: 30080 },
    ]);
  });

  it('closes the ports of services that are gone when it starts again', async () => {
    await backend.start([entry('a', at('10.96.0.1')), entry('b', at('10.96.0.2'))], NODE);
    const before = proxyPorts();
    await backend.start([entry('b', at('10.96.0.2'))], NODE);
    expect(proxyPorts()).toEqual({ '10.96.0.2': before['10.96.0.2'] });
    await expect(askTcp(before['10.96.0.1']!)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('apply', () => {
  it('passes connections on, and follows endpoints without a rule', async () => {
    const [a, b] = [await endpointNamed('a'), await endpointNamed('b')];
    await backend.start([entry('web', {}, [a])], NODE);
    const [proxy] = Object.values(proxyPorts());
    expect([await askTcp(proxy!), await askTcp(proxy!)]).toEqual(['a', 'a']);
    const restores = iptables.restores;
    expect(await backend.apply([changed(entry('web', {}, [a, b]))], NODE)).toEqual(EMPTY);
    expect(new Set([await askTcp(proxy!), await askTcp(proxy!)])).toEqual(new Set(['a', 'b']));
    await backend.apply([changed(entry('web', { affinitySeconds: 60 }, [a, b]))], NODE);
    expect(new Set([await askTcp(proxy!), await askTcp(proxy!)]).size).toBe(1);
    await backend.apply([changed(entry('web'))], NODE);
    expect(await askTcp(proxy!)).toBe('');
    expect(iptables.restores).toBe(restores);
  });

  it('tells of failed connections once a minute for each service port, and how many more there were', async () => {
    const dead = endpoint(HERE, { port: await freePort() });
    await backend.start([entry('a', at('10.96.0.1'), [dead]), entry('b', at('10.96.0.2'), [dead])], NODE);
    for (const proxyPort of Object.values(proxyPorts()))
      for (let n = 0; n < 3; n++) expect(await askTcp(proxyPort)).toBe('');
    const told = () => logger.at('warn').map(({ facts, message }) => [message, facts]);
    const services = ['shop/a/tcp/', 'shop/b/tcp/'].map(
      (service) => expect.objectContaining({ service }) as object,
    );
    expect(told()).toEqual(services.map((facts) => ['cannot forward a connection', facts]));
    await clock.advanceAsync(60_000);
    expect(
      logger
        .at('warn')
        .slice(2)
        .map(({ facts }) => facts),
    ).toEqual(
      ['shop/a/tcp/', 'shop/b/tcp/'].map(
        (service) => expect.objectContaining({ service, withheld: 2 }) as object,
      ),
    );
  });

  it('keeps the proxy port when the addresses of a service change, and frees it when the service goes', async () => {
    await backend.start([], NODE);
    const first = entry('web', at('10.96.0.1'));
    await backend.apply([changed(first)], NODE);
    const [proxy] = Object.values(proxyPorts());
    await backend.apply([changed(entry('web', at('10.96.0.2')))], NODE);
    expect(proxyPorts()).toEqual({ '10.96.0.2': proxy });
    await backend.apply([gone(first)], NODE);
    expect(nat('PORTALS-CONTAINER')).toEqual([]);
    await listening(proxy!);
  });

  it('carries UDP, and tells which flows are right', async () => {
    const server = await udpEndpoint('a');
    const to = endpoint(HERE, { port: addressOf(server).port });
    const dns = entry('dns', port('UDP'), [to]);
    await backend.start([dns, entry('web', at('10.96.0.3'))], NODE);
    const proxy = proxyPorts()['10.96.7.1']!;
    const client = await UdpClient.open(proxy);
    expect(await client.ask('1')).toBe('a:1');
    expect(backend.udpFlows(dns)).toEqual({
      frontends: [{ address: '10.96.7.1', port: 80 }],
      endpoints: new Set([`${HERE}:${proxy}`]),
    });
    expect(backend.udpFlows(entry('web', at('10.96.0.3')))).toBeUndefined();
    client.close();
    server.close();
  });

  it('leaves a UDP flow with an endpoint of weight 0, and leads new ones elsewhere', async () => {
    const servers = [await udpEndpoint('a'), await udpEndpoint('b')];
    const [a, b] = servers.map((server) => endpoint(HERE, { port: addressOf(server).port }));
    const weighing = (...endpoints: readonly Endpoint[]) => entry('dns', port('UDP'), endpoints);
    await backend.start([weighing(a!)], NODE);
    const [standing, later] = [
      await UdpClient.open(proxyPorts()['10.96.7.1']!),
      await UdpClient.open(proxyPorts()['10.96.7.1']!),
    ];
    expect(await standing.ask('1')).toBe('a:1');
    await backend.apply([changed(weighing({ ...a!, weight: 0 }, b!))], NODE);
    expect(await standing.ask('2')).toBe('a:2');
    expect(await later.ask('1')).toBe('b:1');
    for (const each of [standing, later, ...servers]) each.close();
  });

  it('reports a service port that it cannot carry, and goes on with the others', async () => {
    const { failed } = await backend.start(
      [entry('sctp', port('SCTP')), entry('web', at('10.96.0.2'))],
      NODE,
    );
    expect(failed).toEqual([
      {
        key: 'shop/sctp/sctp/',
        reason: expect.stringContaining('userspace mode supports TCP and UDP, not SCTP'),
        limitedBy: 'mode',
      },
    ]);
    expect(Object.keys(proxyPorts())).toEqual(['10.96.0.2']);
  });

  it('reports when the range of ports is exhausted, and takes a port that is free when it is tried again', async () => {
    const free = await freePort();
    backend = backendWith(`${free}`);
    const [a, b, c] = ['1', '2', '3'].map((number) => entry(number, at(`10.96.0.${number}`))) as [
      ForwardingEntry,
      ForwardingEntry,
      ForwardingEntry,
    ];
    const { failed } = await backend.start([a, b], NODE);
    expect(failed).toEqual([
      {
        key: b.key,
        reason: expect.stringContaining(
          'there are no remaining ports left to allocate in the accepted range',
        ),
        limitedBy: 'node',
      },
    ]);
    expect(proxyPorts()).toEqual({ '10.96.0.1': free });
    expect((await backend.apply([gone(a), changed(c)], NODE)).failed).toHaveLength(1);
    expect(await backend.apply([changed(c)], NODE)).toMatchObject({ failed: [] });
    expect(proxyPorts()).toEqual({ '10.96.0.3': free });
  });

  it('passes over ports of the range that other programs have', async () => {
    const taken = addressOf(await listening(0)).port;
    backend = backendWith(`${taken}`);
    const { failed } = await backend.start([entry('a')], NODE);
    expect(failed[0]!.reason).toMatch(/no remaining ports left|another program has the port/);
    servers.pop()!.close();
    expect(await backend.apply([changed(entry('a'))], NODE)).toMatchObject({ failed: [] });
    expect(Object.values(proxyPorts())).toEqual([taken]);
  });

  it('reports what iptables refuses, keeps the socket, and tries again', async () => {
    const [a, b] = [entry('a', at('10.96.0.1')), entry('b', at('10.96.0.2'))];
    await backend.start([a], NODE);
    iptables.refuse((line) => (line.includes('10.96.0.2') ? 'No such file or directory' : undefined));
    const { failed } = await backend.apply([changed(b)], NODE);
    expect(failed).toEqual([{ key: b.key, reason: expect.stringContaining('10.96.0.2') }]);
    expect(Object.keys(proxyPorts())).toEqual(['10.96.0.1']);
    iptables.refuse(() => undefined);
    expect(await backend.apply([changed(b)], NODE)).toMatchObject({ failed: [] });
    expect(Object.keys(proxyPorts()).sort()).toEqual(['10.96.0.1', '10.96.0.2']);
  });

  it('is rejected if iptables is unavailable, and starts again afterwards with the same ports', async () => {
    const [a, b] = [entry('a', at('10.96.0.1')), entry('b', at('10.96.0.2'))];
    await backend.start([a], NODE);
    const before = proxyPorts();
    iptables.fail(new Error('out of order'));
    await expect(backend.apply([changed(b)], NODE)).rejects.toThrow('out of order');
    iptables.fail(undefined);
    expect(await backend.start([a, b], NODE)).toMatchObject({ failed: [] });
    expect(proxyPorts()).toMatchObject(before);
  });
});

describe('claims', () => {
  it('holds node ports against other programs, until the service goes', async () => {
    const nodePort = await freePort();
    const web = entry('web', port('TCP', nodePort));
    await backend.start([web], NODE);
    expect(targets('NODEPORT-CONTAINER')).toHaveLength(1);
    await expect(listening(nodePort, '0.0.0.0')).rejects.toThrow('EADDRINUSE');
    await backend.apply([changed(entry('web'))], NODE);
    await listening(nodePort, '0.0.0.0');
  });

  it('leaves a node port out that another program has, keeps the rest, and tries again', async () => {
    const server = await listening(0, '0.0.0.0');
    const web = entry('web', port('TCP', addressOf(server).port));
    const { failed } = await backend.start([web], NODE);
    expect(failed).toEqual([
      {
        key: web.key,
        reason: expect.stringMatching(/^node port \d+\/TCP is unavailable: another program has the port/),
        limitedBy: 'node',
      },
    ]);
    expect([targets('PORTALS-CONTAINER').length, targets('NODEPORT-CONTAINER').length]).toEqual([1, 0]);
    server.close();
    await once(server, 'close');
    expect(await backend.apply([changed(web)], NODE)).toMatchObject({ failed: [], written: 3 });
    expect(targets('NODEPORT-CONTAINER')).toHaveLength(1);
  });

  it('leaves a node port to the service that has it', async () => {
    const nodePort = await freePort();
    const first = entry('a', { ...at('10.96.0.1'), ...port('TCP', nodePort) });
    const second = entry('b', { ...at('10.96.0.2'), ...port('TCP', nodePort) });
    const { failed } = await backend.start([first, second], NODE);
    expect(failed).toEqual([
      {
        key: second.key,
        reason: expect.stringContaining(`it belongs to ${serviceOf(first.key)}`),
        limitedBy: 'node',
      },
    ]);
    await backend.apply([gone(first)], NODE);
    expect(await backend.apply([changed(second)], NODE)).toMatchObject({ failed: [] });
    expect(targets('NODEPORT-HOST')).toHaveLength(1);
  });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])(
    'serves an address of this machine beside a node port with its number, whichever comes first: %s, %s',
    async (one, other) => {
      const number = await freePort();
      local = [HERE];
      const ports = [{ name: '', protocol: 'TCP', port: number, nodePort: 0 }] as const;
      const addressed = entry(one, { ...at('10.96.0.1'), ports, externalIPs: [parseAddress(HERE)!] });
      const web = entry(other, { ...at('10.96.0.2'), ...port('TCP', number) });
      const entries = one < other ? [addressed, web] : [web, addressed];
      expect(await backend.start(entries, NODE)).toMatchObject({ failed: [] });
      expect([targets('NODEPORT-CONTAINER').length, proxyPorts()]).toEqual([
        1,
        expect.objectContaining({ [HERE]: expect.any(Number) }),
      ]);
      for (const left of [web, undefined]) {
        await expect(listening(number, HERE)).rejects.toThrow('EADDRINUSE');
        await backend.apply([gone(left ? addressed : web)], NODE);
      }
      await listening(number, '0.0.0.0');
    },
  );

  it('passes a node port on with the write that takes it from a service that goes', async () => {
    const nodePort = await freePort();
    const first = entry('b', { ...at('10.96.0.1'), ...port('TCP', nodePort) });
    const second = entry('a', { ...at('10.96.0.2'), ...port('TCP', nodePort) });
    await backend.start([first], NODE);
    for (const [comes, goes] of [
      [second, first],
      [first, second],
    ] as const) {
      const { restores } = iptables;
      expect(await backend.apply([gone(goes), changed(comes)], NODE)).toMatchObject({ failed: [] });
      expect(iptables.restores).toBe(restores + 1);
      const [proxyPort] = Object.values(proxyPorts());
      expect(targets('NODEPORT-CONTAINER')).toEqual([expect.stringMatching(`:${proxyPort}$`)]);
      await expect(listening(nodePort, '0.0.0.0')).rejects.toThrow('EADDRINUSE');
    }
    await backend.apply([gone(first)], NODE);
    await listening(nodePort, '0.0.0.0');
  });

  it('holds service addresses that are this machine’s own, also when they become so later', async () => {
    const own = entry('web', {
      externalIPs: [parseAddress('127.0.0.9')!],
      ports: [{ name: '', protocol: 'UDP', port: 18080, nodePort: 0 }],
    });
    const tcp = entry('tcp', {
      ...at('127.0.0.8'),
      ports: [{ name: '', protocol: 'TCP', port: 18080, nodePort: 0 }],
    });
    local = ['127.0.0.9'];
    await backend.start([own, tcp], NODE);
    await listening(18080, '127.0.0.8');
    servers.pop()!.close();
    local = ['127.0.0.9', '127.0.0.8'];
    expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [] });
    await expect(listening(18080, '127.0.0.8')).rejects.toThrow('EADDRINUSE');
    local = [];
    await backend.apply([], NODE);
    await listening(18080, '127.0.0.8');
  });
});

describe('the address by which this machine reaches the proxy', () => {
  const hosts = () => nat('PORTALS-HOST')!.map((rule) => /--to-destination (\S+):/.exec(rule)?.[1]);

  it('is taken when it comes, and followed when it becomes another one', async () => {
    backend = backendWith('', { listen: undefined });
    await backend.start([entry('web')], NODE);
    expect(hosts()).toEqual([]);
    expect(nat('PORTALS-CONTAINER')).toHaveLength(1);
    local = ['192.0.2.7'];
    await backend.apply([], NODE);
    expect(hosts()).toEqual(['192.0.2.7']);
    local = ['192.0.2.8'];
    await backend.verify('full');
    expect(hosts()).toEqual(['192.0.2.8']);
  });

  it('is looked for in each full verification: a link that comes up changes no address', async () => {
    local = ['192.0.2.7'];
    isUp = false;
    backend = backendWith('', { listen: undefined });
    await backend.start([entry('web')], NODE);
    isUp = true;
    await backend.verify('quick');
    expect(hosts()).toEqual([]);
    await backend.verify('full');
    expect(hosts()).toEqual(['192.0.2.7']);
  });
});

describe('verify and clean-up', () => {
  it('repairs what another program changed', async () => {
    await backend.start([entry('web')], NODE);
    const before = nat('PORTALS-HOST');
    iptables.tamper('IPv4', '*nat\n:KUBE-PORTALS-HOST - [0:0]\n-A KUBE-PORTALS-HOST -j ACCEPT\nCOMMIT\n');
    const result = await backend.verify('quick');
    expect(result.compared).toBe(true);
    expect(result.written).toBeGreaterThan(0);
    expect(nat('PORTALS-HOST')).toEqual(before);
  });

  it('removes its chains and jumps, and nothing else; what is busy stays and is told', async () => {
    await backend.start([entry('web', port('TCP', await freePort()))], NODE);
    iptables.tamper(
      'IPv4',
      '*nat\n:MINE - [0:0]\n-A MINE -j KUBE-NODEPORT-HOST\n-A PREROUTING -j MINE\nCOMMIT\n',
    );
    await expect(backend.cleanup()).rejects.toThrow(
      'cannot remove all chains of userspace mode from iptables for IPv4',
    );
    expect(nat('PORTALS-HOST')).toBeUndefined();
    expect(iptables.chain('IPv4', 'filter', 'KUBE-NODEPORT-NON-LOCAL')).toBeUndefined();
    iptables.tamper('IPv4', '*nat\n:MINE - [0:0]\nCOMMIT\n');
    await removePortals(iptables, 'IPv4');
    for (const chain of ['PORTALS-CONTAINER', 'PORTALS-HOST', 'NODEPORT-CONTAINER', 'NODEPORT-HOST'])
      expect(nat(chain)).toBeUndefined();
    expect(iptables.chain('IPv4', 'nat', 'PREROUTING')).toEqual(['-j MINE']);
    expect(iptables.chain('IPv4', 'filter', 'INPUT')).toEqual([]);
    const { restores } = iptables;
    await backend.cleanup();
    expect(iptables.restores).toBe(restores);
  });
});
