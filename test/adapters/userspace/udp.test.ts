import type { Socket } from 'node:dgram';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { UdpProxySocket } from '../../../src/adapters/userspace/udp-proxy-socket.js';
import { RoundRobin } from '../../../src/domain/userspace/round-robin.js';
import { addressOf, at, freePort, HERE, UdpClient, udpEndpoint } from './endpoints.js';

const IDLE = 250;
let clock: FakeClock;
let endpoints: RoundRobin;
let proxy: UdpProxySocket;
let logger: MemoryLogger;
let servers: Socket[];
let clients: UdpClient[];

beforeEach(async () => {
  clock = new FakeClock();
  endpoints = new RoundRobin(() => 1 - Number.EPSILON);
  logger = new MemoryLogger();
  clients = [];
  servers = await Promise.all(['a', 'b'].map(udpEndpoint));
  endpoints.use(servers.map(addressOf));
  const where = { family: 'IPv4', address: HERE, port: 0 } as const;
  proxy = await UdpProxySocket.open(where, endpoints, { clock, idleTimeout: IDLE }, logger);
});
afterEach(async () => {
  for (const client of clients) client.close();
  await proxy.close();
  for (const server of servers) server.close();
  expect(clock.pending).toBe(0);
});

async function open(): Promise<UdpClient> {
  const client = await UdpClient.open(proxy.port);
  clients.push(client);
  return client;
}

async function flows(count: number): Promise<void> {
  while (proxy.size !== count) await new Promise((resolve) => setImmediate(resolve));
}

it('gives each client an endpoint and brings it the answers', async () => {
  const [x, y] = [await open(), await open()];
  expect([await x.ask('1'), await y.ask('2'), await x.ask('3'), await y.ask('4')]).toEqual([
    'a:1',
    'b:2',
    'a:3',
    'b:4',
  ]);
  expect(proxy.size).toBe(2);
});

it('keeps what comes while it connects, in order', async () => {
  const client = await open();
  for (const text of ['1', '2']) client.send(text);
  expect(await client.ask('3')).toBe('a:1');
  expect(proxy.size).toBe(1);
});

it('passes on large datagrams whole', async () => {
  const client = await open();
  const text = 'x'.repeat(9000);
  expect(await client.ask(text)).toBe(`a:${text}`);
});

it('ends a flow that is idle; the next datagram takes the next endpoint', async () => {
  const client = await open();
  expect(await client.ask('1')).toBe('a:1');
  clock.advance(IDLE - 1);
  expect(await client.ask('2')).toBe('a:2');
  clock.advance(IDLE - 1);
  expect(proxy.size).toBe(1);
  clock.advance(1);
  expect(proxy.size).toBe(0);
  expect(await client.ask('3')).toBe('b:3');
});

it('comes back to the same endpoint under affinity', async () => {
  endpoints.stickFor(60);
  const client = await open();
  expect(await client.ask('1')).toBe('a:1');
  clock.advance(IDLE);
  expect(await client.ask('2')).toBe('a:2');
});

it('ends a flow that the endpoint refuses, and goes on with the next, also under affinity', async () => {
  endpoints.use([at(await freePort()), addressOf(servers[1]!)]);
  endpoints.stickFor(60);
  const client = await open();
  client.send('lost');
  await flows(1);
  await flows(0);
  expect(await client.ask('2')).toBe('b:2');
  expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
});

it('ends the flows of endpoints that are gone', async () => {
  const [x, y] = [await open(), await open()];
  expect([await x.ask('1'), await y.ask('1')]).toEqual(['a:1', 'b:1']);
  endpoints.use([addressOf(servers[1]!)]);
  proxy.endpointsChanged();
  expect(proxy.size).toBe(1);
  expect([await x.ask('2'), await y.ask('2')]).toEqual(['b:2', 'b:2']);
});

it('leaves the flows of endpoints that get no new ones', async () => {
  const [x, y] = [await open(), await open()];
  expect([await x.ask('1'), await y.ask('1')]).toEqual(['a:1', 'b:1']);
  endpoints.use([addressOf(servers[1]!)], [addressOf(servers[0]!)]);
  proxy.endpointsChanged();
  expect([await x.ask('2'), await y.ask('2')]).toEqual(['a:2', 'b:2']);
  const z = await open();
  expect(await z.ask('1')).toBe('b:1');
  endpoints.use([addressOf(servers[1]!)]);
  proxy.endpointsChanged();
  expect(await x.ask('3')).toBe('b:3');
});

it('drops datagrams without endpoints, quietly, until there are some', async () => {
  endpoints.use([]);
  const asked = new Promise<void>((resolve) => {
    const next = endpoints.next.bind(endpoints);
    endpoints.next = (...question) => {
      resolve();
      return next(...question);
    };
  });
  const client = await open();
  client.send('lost');
  await asked;
  await flows(0);
  endpoints.use([addressOf(servers[0]!)]);
  expect(await client.ask('2')).toBe('a:2');
  expect(logger.lines).toEqual([]);
});

it('drops everything when it is closed', async () => {
  const client = await open();
  await client.ask('1');
  const { port } = proxy;
  await proxy.close();
  expect(proxy.size).toBe(0);
  expect(clock.pending).toBe(0);
  const where = { family: 'IPv4', address: HERE, port } as const;
  proxy = await UdpProxySocket.open(where, endpoints, { clock, idleTimeout: IDLE }, logger);
});
