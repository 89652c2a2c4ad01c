import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { SystemClock } from '../../../src/adapters/process/system-clock.js';
import { TcpProxySocket, TcpRelay } from '../../../src/adapters/userspace/tcp-proxy-socket.js';
import { RoundRobin } from '../../../src/domain/userspace/round-robin.js';
import { addressOf, askTcp, at, freePort, HERE, named, tcpEndpoint } from './endpoints.js';

let endpoints: RoundRobin;
let relay: TcpRelay;
let proxy: TcpProxySocket;
let logger: MemoryLogger;
let servers: Server[];

beforeEach(async () => {
  endpoints = new RoundRobin(() => 1 - Number.EPSILON);
  relay = new TcpRelay(new SystemClock());
  logger = new MemoryLogger();
  servers = [];
  const where = { family: 'IPv4', address: HERE, port: 0 } as const;
  proxy = await TcpProxySocket.open(where, endpoints, relay, logger);
});
afterEach(async () => {
  await proxy.close();
  await relay.close();
  for (const server of servers) server.close();
});

async function serveBy(...made: Promise<Server>[]): Promise<void> {
  servers = await Promise.all(made);
  endpoints.use(servers.map(addressOf));
}

async function open(): Promise<Socket> {
  const client = connect({ port: proxy.port, host: HERE, allowHalfOpen: true });
  await once(client, 'connect');
  return client;
}

async function nothingCarried(): Promise<void> {
  while (relay.size > 0) await new Promise((resolve) => setImmediate(resolve));
}

it('takes one endpoint after the other', async () => {
  await serveBy(named('a'), named('b'));
  const answers = [await askTcp(proxy.port), await askTcp(proxy.port), await askTcp(proxy.port)];
  expect(answers).toEqual(['a', 'b', 'a']);
  await nothingCarried();
});

it('tries the next when one refuses, and ends the connection when all do', async () => {
  await serveBy(named('a'));
  endpoints.use([at(await freePort()), at(await freePort()), addressOf(servers[0]!)]);
  expect(await askTcp(proxy.port)).toBe('a');
  endpoints.use([at(await freePort())]);
  expect(await askTcp(proxy.port)).toBe('');
  const [line] = logger.lines.filter(({ level }) => level === 'warn');
  expect(line).toMatchObject({ message: 'cannot forward a connection' });
  expect(String((line!.facts as { error: Error }).error)).toMatch(
    /no endpoint accepts the connection \((127\.0\.0\.1:\d+: .*ECONNREFUSED.*; ){3}/,
  );
});

it('moves a client that is to stay to an endpoint that answers', async () => {
  await serveBy(named('a'), named('b'));
  endpoints.use([at(await freePort()), ...servers.map(addressOf)]);
  endpoints.stickFor(60);
  const answers = [await askTcp(proxy.port), await askTcp(proxy.port)];
  // A busy machine may answer too late, and the client is moved once more.
  for (let more = 0; more < 10 && answers.at(-1) !== answers.at(-2); more++)
    answers.push(await askTcp(proxy.port));
  expect(['a', 'b']).toContain(answers.at(-1));
  expect(answers.at(-1)).toBe(answers.at(-2));
});

it('ends connections at once without endpoints, quietly', async () => {
  expect(await askTcp(proxy.port)).toBe('');
  expect(logger.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
});

it('lets the client end its direction and still hear the answer', async () => {
  const heard: string[] = [];
  await serveBy(
    tcpEndpoint((client) => {
      client.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
      client.on('end', () => setTimeout(() => client.end(`got ${heard.join('')}`), 20));
    }),
  );
  const client = await open();
  client.end('question');
  let answer = '';
  for await (const chunk of client) answer += String(chunk);
  expect(answer).toBe('got question');
  await nothingCarried();
});

it('lets the endpoint end its direction and still hear the client', async () => {
  let heard = '';
  const ended = new Promise<void>((resolve) => {
    void serveBy(
      tcpEndpoint((client) => {
        client.end('greeting');
        client.on('data', (chunk: Buffer) => (heard += chunk.toString()));
        client.on('end', resolve);
      }),
    );
  });
  while (servers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const client = await open();
  client.resume();
  await once(client, 'end');
  client.end('late words');
  await ended;
  expect(heard).toBe('late words');
});

it('reads no faster than the other side takes it', async () => {
  await serveBy(tcpEndpoint((client) => client.pause()));
  const client = await open();
  const piece = Buffer.alloc(1024 * 1024);
  let accepted = 0;
  // Kernel buffers hold a few megabytes; a proxy without backpressure takes all of it.
  for (let number = 0; number < 64; number++) client.write(piece, () => (accepted += piece.length));
  let before = -1;
  while (before !== accepted) {
    before = accepted;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(accepted).toBeLessThan(32 * piece.length);
  client.destroy();
});

it('carries a lot without loss, both ways at once', async () => {
  await serveBy(tcpEndpoint((client) => client.pipe(client)));
  const client = await open();
  const piece = Buffer.from(Array.from({ length: 65536 }, (_, index) => index % 251));
  let received = 0;
  const checked = (async () => {
    for await (const chunk of client as AsyncIterable<Buffer>) {
      expect(chunk[0]).toBe((received % 65536) % 251);
      received += chunk.length;
    }
  })();
  for (let number = 0; number < 100; number++) if (!client.write(piece)) await once(client, 'drain');
  client.end();
  await checked;
  expect(received).toBe(100 * piece.length);
});

it('breaks off one side when the other breaks off', async () => {
  const sides: Socket[] = [];
  await serveBy(tcpEndpoint((client) => sides.push(client.resume())));
  const next = async () => {
    const client = (await open()).resume();
    client.on('error', () => undefined);
    const before = sides.length;
    while (sides.length === before) await new Promise((resolve) => setImmediate(resolve));
    return [client, sides.at(-1)!] as const;
  };
  for (const which of [0, 1] as const) {
    const pair = await next();
    const other = once(pair[1 - which]!, 'end');
    pair[which].resetAndDestroy();
    await expect(other).rejects.toThrow('ECONNRESET');
  }
  await nothingCarried();
});

it('keeps connections when it is closed, until the relay ends too', async () => {
  await serveBy(tcpEndpoint((client) => client.pipe(client)));
  const client = await open();
  const echo = async (text: string) => {
    const heard = once(client, 'data');
    client.write(text);
    return String((await heard)[0]);
  };
  expect(await echo('1')).toBe('1');
  await proxy.close();
  await expect(once(connect(proxy.port, HERE), 'connect')).rejects.toThrow('ECONNREFUSED');
  expect(await echo('2')).toBe('2');
  const closed = once(
    client.on('error', () => undefined),
    'close',
  );
  client.on('end', () => client.end());
  await relay.close();
  await closed;
  expect(relay.size).toBe(0);
});

it('is rejected when another program has the port', async () => {
  const where = { family: 'IPv4', address: HERE, port: proxy.port } as const;
  await expect(TcpProxySocket.open(where, endpoints, relay, logger)).rejects.toThrow('EADDRINUSE');
});
