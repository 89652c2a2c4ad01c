import { createServer, type Server } from 'node:net';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { HalfOpen } from '../../support/http/half-open.js';
import { BindError, HttpListener } from '../../../src/adapters/http/http-listener.js';
import type { ConnectionLimits } from '../../../src/adapters/http/open-server.js';

let occupant: Server;
let clock: FakeClock;
let logger: MemoryLogger;
let listener: HttpListener;

function listen(port: number, hardFail: boolean, limits?: ConnectionLimits): HttpListener {
  const address = { host: '127.0.0.1', port };
  return new HttpListener({
    name: 'healthz',
    address,
    hardFail,
    logger,
    clock,
    handler: (_, answer) => answer.end('hi'),
    ...(limits && { limits }),
  });
}

const occupied = (): number => (occupant.address() as { port: number }).port;

beforeEach(async () => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  occupant = createServer();
  await new Promise<void>((done) => occupant.listen(0, '127.0.0.1', done));
});

afterEach(async () => {
  await listener.stop();
  occupant.close();
});

describe('HttpListener', () => {
  it('reports a port in use and takes it when it is free', async () => {
    const port = occupied();
    listener = listen(port, false);
    await listener.start();
    expect(logger.at('error')).toHaveLength(1);
    expect(logger.at('error')[0]!.facts).toEqual({ error: expect.stringMatching(/healthz.*EADDRINUSE/) });
    await clock.advanceAsync(4_999);
    expect(clock.pending).toBe(1);
    await clock.advanceAsync(1);
    await until(() => logger.at('error').length === 2);
    await new Promise((done) => occupant.close(done));
    await clock.advanceAsync(5_000);
    await until(() => listener.port === port);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hi');
  });

  it('rejects at once when failures are hard', async () => {
    listener = listen(occupied(), true);
    await expect(listener.start()).rejects.toThrow(BindError);
    expect(clock.pending).toBe(0);
  });

  describe('with clients that begin a request and do not end it', () => {
    let clients: HalfOpen;
    beforeEach(() => {
      clients = new HalfOpen();
    });
    afterEach(() => clients.close());

    const answered = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${listener.port}/`, { headers: { connection: 'close' } })).text();

    it('keeps at most 256 connections, and tells that it closes others', async () => {
      listener = listen(0, true);
      await listener.start();
      await clients.open(listener.port!, 300);
      await clients.untilClosed(44);
      await expect(answered()).rejects.toThrow();
      expect(logger.at('warn')[0]).toMatchObject({
        facts: { server: 'healthz', most: 256 },
        message: 'too many connections, closing further ones',
      });
      clients.close();
      await clients.untilClosed(300);
      expect(await answered()).toBe('hi');
    });

    it('gives them a time, and serves others again', async () => {
      listener = listen(0, true, { connections: 10, request: 1500, check: 50 });
      await listener.start();
      await clients.open(listener.port!, 10);
      await expect(answered()).rejects.toThrow();
      expect(clients.closed).toBe(0);
      await clients.untilClosed(10);
      expect(await answered()).toBe('hi');
    });
  });

  it('stops retrying, and stops with connections open', async () => {
    listener = listen(occupied(), false);
    await listener.start();
    await listener.stop();
    expect(clock.pending).toBe(0);
    listener = listen(0, true);
    await listener.start();
    await (await fetch(`http://127.0.0.1:${listener.port}/`)).text();
    await listener.stop();
    expect(listener.port).toBeUndefined();
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen');
    await new Promise((done) => setTimeout(done, 5));
  }
}
