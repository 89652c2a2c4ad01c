import { createServer, type Server } from 'node:net';
import { FakeClock } from '../../../src/adapters/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { BindError, HttpListener } from '../../../src/adapters/http/http-listener.js';

let occupant: Server;
let clock: FakeClock;
let logger: MemoryLogger;
let listener: HttpListener;

function listen(port: number, hardFail: boolean): HttpListener {
  const address = { host: '127.0.0.1', port };
  return new HttpListener({
    name: 'healthz',
    address,
    hardFail,
    logger,
    clock,
    handler: (_, answer) => answer.end('hi'),
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
  const deadline = Date.now() + 3000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen');
    await new Promise((done) => setTimeout(done, 5));
  }
}
