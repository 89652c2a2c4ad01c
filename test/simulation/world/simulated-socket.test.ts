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
