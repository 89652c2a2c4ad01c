import { Life } from './life.js';
import { Network } from './network.js';
import { Random } from './random.js';
import { Scheduler } from './scheduler.js';
import type { SimulatedSocket } from './simulated-socket.js';

/** Milliseconds. */
const PROBED_AFTER = 30_000;
const PROBED_FOR = 10_000;

describe('a connection that has become silent', () => {
  let scheduler: Scheduler;
  let socket: SimulatedSocket;
  let error: NodeJS.ErrnoException | undefined;

  beforeEach(async () => {
    const life = new Life('somebody', 1);
    scheduler = new Scheduler(0, life);
    const network = new Network(scheduler, new Random(1));
    const port = network.listen('127.0.0.1', 0, {
      owner: life,
      accept: (far) => far.on('data', () => far.write('an answer')),
    });
    socket = network.connect('127.0.0.1', port!);
    error = undefined;
    socket.on('error', (reason) => (error = reason));
    socket.resume();
    socket.setKeepAlive(true, PROBED_AFTER);
    socket.write('a question');
    await scheduler.runUntil(5_000);
    expect(socket.bytesRead).toBeGreaterThan(0);
    socket.goSilent();
  });

  it('is found by the kernel while it is idle', async () => {
    await scheduler.runUntil(PROBED_AFTER + PROBED_FOR - 1);
    expect(socket.destroyed).toBe(false);
    await scheduler.runUntil(PROBED_AFTER + PROBED_FOR + 5);
    expect(error).toMatchObject({ code: 'ETIMEDOUT', syscall: 'read' });
  });

  it('stays while something is not acknowledged', async () => {
    socket.write('another question');
    await scheduler.runUntil(10 * PROBED_AFTER);
    expect(socket.destroyed).toBe(false);
  });
});

describe('a connection that is closed', () => {
  const [CLIENT, SERVER] = [new Life('client', 1), new Life('server', 2)];
  /** Milliseconds. */
  const LATENCY = 500;
  let scheduler: Scheduler;
  let socket: SimulatedSocket;
  let otherSide: SimulatedSocket;

  beforeEach(() => {
    scheduler = new Scheduler(0, CLIENT);
    const network = new Network(scheduler, new Random(1));
    network.weather.latency = [LATENCY, LATENCY];
    const port = network.listen('127.0.0.1', 0, {
      owner: SERVER,
      accept: (far) => {
        otherSide = far;
        far.write('a greeting');
      },
    });
    socket = network.connect('127.0.0.1', port!);
  });

  it('leaves nothing of what is on its way to it, or is sent before the other side knows', async () => {
    await scheduler.runUntil(LATENCY - 1);
    expect(scheduler.pendingOf(CLIENT)).toHaveLength(1);
    await scheduler.runUntil(LATENCY + 1);
    expect(scheduler.pendingOf(CLIENT)).toEqual([2 * LATENCY]);
    socket.destroy();
    await scheduler.runUntil(LATENCY + 2);
    expect(scheduler.pendingOf(CLIENT)).toEqual([]);
    otherSide.write('more');
    expect(scheduler.pendingOf(CLIENT)).toEqual([]);
  });

  it('is not established any more', async () => {
    let isEstablished = false;
    socket.on('connect', () => (isEstablished = true));
    socket.destroy();
    await scheduler.runUntil(2 * LATENCY);
    expect(isEstablished).toBe(false);
    expect(scheduler.pendingOf(SERVER)).toEqual([]);
  });
});
