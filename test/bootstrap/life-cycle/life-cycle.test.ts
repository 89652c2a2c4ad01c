import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { LifeCycle, type Part } from '../../../src/bootstrap/life-cycle/life-cycle.js';

let clock: FakeClock;
let logger: MemoryLogger;
let life: LifeCycle;
let stopped: string[];

beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  life = new LifeCycle(clock, logger);
  stopped = [];
});

const part = (name: string, stop: () => Promise<void> | void = () => undefined): Part => ({
  name,
  stop() {
    stopped.push(name);
    return stop();
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
        'third: StopTimeoutError: it did not end within 2000',
        'second: StopTimeoutError: it did not end within 1000',
        'first: StopTimeoutError: it did not end within 500',
      ].map((line) => expect.stringContaining(line) as string),
    );
  });

  it('stops once', async () => {
    life.add(part('only'));
    await Promise.all([life.stop(), life.stop()]);
    await life.stop();
    expect(stopped).toEqual(['only']);
  });
});
