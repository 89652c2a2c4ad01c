import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger, type LogLine } from '../../../src/testing/fakes/memory-logger.js';
import { HalfOpen } from '../../support/http/half-open.js';
import { until } from '../../support/until.js';
import { BindError, HttpListener, type ClientLimits } from '../../../src/adapters/http/http-listener.js';
let occupant: Server;
let clock: FakeClock;
let logger: MemoryLogger;
let listener: HttpListener;

const LIMITS = { most: 256, perSource: 32, ownNode: 64, request: 10_000, check: 2_500, silence: 30_000 };
const greet: RequestListener = (_, answer) => void answer.end('hi');

function listen(
  port: number,
  hardFail: boolean,
  limits?: ClientLimits,
  handler: RequestListener = greet,
): HttpListener {
  const address = { host: '127.0.0.1', port };
  return new HttpListener({
    name: 'healthz',
    address,
    hardFail,
    logger,
    clock,
    handler,
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

const isFailure = ({ message }: LogLine): boolean => message.startsWith('server cannot listen');

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
    await until('it failed twice', () => logger.lines.filter(isFailure).length === 2);
    expect(logger.at('error')).toHaveLength(1);
    await new Promise((done) => occupant.close(done));
    await clock.advanceAsync(5_000);
    await until('the port is open', () => listener.port === port);
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

    it('keeps at most 64 from this node, ends the longest idle for others, and logs that once', async () => {
      listener = listen(0, true);
      await listener.start();
      await clients.open(listener.port!, 100);
      await clients.untilClosed(36);
      expect(await answered()).toBe('hi');
      await clients.untilClosed(37);
      expect(logger.at('warn')).toEqual([
        expect.objectContaining({
          facts: { server: 'healthz', source: '127.0.0.1' },
          message: 'too many connections; ending the longest idle, or the new one',
        }),
      ]);
      await clock.advanceAsync(60_000);
      expect(logger.at('warn').slice(1)).toEqual([expect.objectContaining({ facts: { withheld: 36 } })]);
    });

    it('refuses new ones while all are being answered', async () => {
      const busy: ServerResponse[] = [];
      listener = listen(0, true, { ...LIMITS, ownNode: 2 }, (_, response) => void busy.push(response));
      await listener.start();
      const first = [answered(), answered()];
      await until('two are asked', () => busy.length === 2);
      await expect(answered()).rejects.toThrow();
      for (const response of busy.splice(0)) response.end('late');
      expect(await Promise.all(first)).toEqual(['late', 'late']);
      const next = answered();
      await until('one is given up', () => busy.length === 1);
      busy[0]!.end('next');
      expect(await next).toBe('next');
    });

    it('does not wait for one that does not take its answer, but for an answer that takes long', async () => {
      const huge = Buffer.alloc(64 * 1024 * 1024);
      const answers = new Map<string, ServerResponse>();
      listener = listen(0, true, { ...LIMITS, silence: 200 }, ({ url }, response) => {
        if (url === '/huge') response.end(huge);
        answers.set(url!, response);
      });
      await listener.start();
      const patient = answered();
      const deaf = connect(listener.port!, '127.0.0.1').pause();
      deaf.on('error', () => undefined).write('GET /huge HTTP/1.1\r\nHost: node\r\n\r\n');
      await until('two are answered', () => answers.size === 2);
      await once(answers.get('/huge')!, 'close');
      answers.get('/')!.end('late');
      expect(await patient).toBe('late');
    });

    it('gives them a time, and serves others again', async () => {
      listener = listen(0, true, { ...LIMITS, request: 1500, check: 50 });
      await listener.start();
      await clients.open(listener.port!, 10);
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
    const port = listener.port!;
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
    const client = connect(port, '127.0.0.1');
    await once(client, 'connect');
    const closed = new Promise((done) => client.on('error', () => undefined).once('close', done));
    await listener.stop();
    expect(listener.port).toBeUndefined();
    const successor = createServer();
    await once(successor.listen(port, '127.0.0.1'), 'listening');
    successor.close();
    await closed;
  });

  it('is not stopped before a start under way has let go of the port', async () => {
    listener = listen(0, true);
    let hasStarted = false;
    void listener.start().then(() => (hasStarted = true));
    await listener.stop();
    expect(hasStarted).toBe(true);
    expect(listener.port).toBeUndefined();
  });
});
