import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { LifeCycle, type Part } from '../../src/bootstrap/life-cycle.js';
let clock: FakeClock;
let logger: MemoryLogger;
let life: LifeCycle;
let started: string[];
let stopped: string[];

beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  life = new LifeCycle(clock, logger);
  started = [];
  stopped = [];
});

const part = (name: string, stop: () => Promise<void> | void = () => undefined): Part => ({
  name,
  stop() {
    stopped.push(name);
    return stop();
  },
});
const starting = (name: string, start: Part['start'] = () => undefined): Part => ({
  ...part(name),
  start(signal) {
    started.push(name);
    return start(signal);
  },
});
const hang = (): Promise<void> => new Promise(() => undefined);
const told = () => logger.lines.map(({ level, facts }) => `${level}: ${facts['part']}: ${facts['error']}`);

describe('LifeCycle', () => {
  it('stops one part after the other, the last one first', async () => {
    let finish = (): void => undefined;
    life.add(
      part('first'),
      part('second', () => new Promise((resolve) => (finish = resolve))),
    );
    life.add(part('third'));
    const stopping = life.stop();
    await clock.advanceAsync(0);
    expect(stopped).toEqual(['third', 'second']);
    finish();
    await stopping;
    expect(stopped).toEqual(['third', 'second', 'first']);
    expect([logger.lines, clock.pending]).toEqual([[], 0]);
  });

  it('stops the others when one throws or rejects, and tells which it was', async () => {
    life.add(
      part('first'),
      part('second', () => Promise.reject(new Error('EIO'))),
      part('third', () => {
        throw new Error('no such part');
      }),
      part('fourth'),
    );
    await life.stop();
    expect(stopped).toEqual(['fourth', 'third', 'second', 'first']);
    expect(told()).toEqual(['error: third: Error: no such part', 'error: second: Error: EIO']);
  });

  it('gives one that hangs half of the time that is left, however many hang', async () => {
    life.add(part('zero'), ...['first', 'second', 'third'].map((name) => part(name, hang)));
    let over = false;
    void life.stop().then(() => (over = true));
    await clock.advanceAsync(1_999);
    expect(stopped).toEqual(['third']);
    await clock.advanceAsync(1);
    expect(stopped).toEqual(['third', 'second']);
    await clock.advanceAsync(1_500);
    expect([stopped, over]).toEqual([['third', 'second', 'first', 'zero'], true]);
    expect(told()).toEqual(
      [
        'third: StopTimeoutError: did not stop within 2000',
        'second: StopTimeoutError: did not stop within 1000',
        'first: StopTimeoutError: did not stop within 500',
      ].map((line) => expect.stringContaining(line) as string),
    );
  });

  it('stops once', async () => {
    life.add(part('only'));
    await Promise.all([life.stop(), life.stop()]);
    await life.stop();
    expect(stopped).toEqual(['only']);
  });

  it('starts one part after the other, in the order of registration, and logs that order', async () => {
    let finish = (): void => undefined;
    life.add(
      starting('first'),
      starting('second', () => new Promise((resolve) => (finish = resolve))),
      part('without a start'),
    );
    life.add(starting('third'));
    const start = life.start();
    await clock.advanceAsync(0);
    expect(started).toEqual(['first', 'second']);
    finish();
    await start;
    expect(started).toEqual(['first', 'second', 'third']);
    const order = ['first', 'second', 'without a start', 'third'];
    expect(life.names).toEqual(order);
    expect(logger.lines).toMatchObject([{ level: 'debug', facts: { parts: order } }]);
    await life.stop();
    expect(stopped).toEqual(order.toReversed());
  });

  it('registers a name once', () => {
    life.add(part('first'), part('second'));
    expect(() => life.add(part('first'))).toThrow('part "first" is registered twice');
    expect(life.names).toEqual(['first', 'second']);
  });

  it('stops what was started when a start fails, and rejects with its error', async () => {
    life.add(
      part('running before'),
      starting('first'),
      starting('second', () => Promise.reject(new Error('EADDRINUSE'))),
      starting('third'),
    );
    await expect(life.start()).rejects.toThrow('EADDRINUSE');
    expect(started).toEqual(['first', 'second']);
    expect(stopped).toEqual(['second', 'first', 'running before']);
    await life.stop();
    expect(stopped).toHaveLength(3);
  });

  it('ends a start under way when it is stopped, even one that does not heed the signal', async () => {
    let heard = false;
    life.add(
      starting('first', (signal) => signal.addEventListener('abort', () => (heard = true))),
      starting('second', hang),
      starting('third'),
    );
    const ended = expect(life.start()).rejects.toThrow('aborted');
    await clock.advanceAsync(0);
    await life.stop();
    await ended;
    expect([started, stopped, heard]).toEqual([['first', 'second'], ['second', 'first'], true]);
  });

  it('starts nothing once it is stopped, and stops nothing that was not started', async () => {
    life.add(part('running before'), starting('first'));
    await life.stop();
    await expect(life.start()).rejects.toThrow('aborted');
    expect([started, stopped]).toEqual([[], ['running before']]);
  });
});
