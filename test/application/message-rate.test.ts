import { LastingProblem, MessageRate } from '../../src/application/message-rate.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';

let clock: FakeClock;
let logger: MemoryLogger;
let rate: MessageRate;

beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  rate = new MessageRate(clock, logger);
});

it('admits five messages about an object at once, and then one a minute, with the number of the others', () => {
  const admitted = (count: number) => Array.from({ length: count }, () => rate.admit('a'));
  expect(admitted(7)).toEqual([{}, {}, {}, {}, {}, undefined, undefined]);
  clock.advance(59_999);
  expect(admitted(1)).toEqual([undefined]);
  clock.advance(1);
  expect(admitted(2)).toEqual([{ suppressed: 3 }, undefined]);
  clock.advance(600_000);
  expect(admitted(6)).toEqual([{ suppressed: 1 }, {}, {}, {}, {}, undefined]);
});

it('limits each object by itself', () => {
  for (let message = 0; message < 6; message++) rate.admit('a');
  expect([rate.admit('a'), rate.admit('b')]).toEqual([undefined, {}]);
});

it('remembers an object that sends too many messages, however many others there are', () => {
  for (let message = 0; message < 9; message++) rate.admit('shop/a');
  for (let object = 0; object < 5_000; object++) {
    rate.admit(`shop/b${object}`);
    if (object % 100 === 0) expect(rate.admit('shop/a')).toBeUndefined();
  }
});

describe('many objects', () => {
  const admitted = (count: number, nameOf: (object: number) => string): number =>
    Array.from({ length: count }, (_, object) => rate.admit(nameOf(object))).filter(Boolean).length;

  it('of a namespace leave the others what they may have', () => {
    expect(admitted(2_000, (object) => `Service evil/${object}`)).toBe(100);
    expect(rate.admit('Service shop/cart')).toEqual({});
    clock.advance(60_000);
    expect(admitted(2_000, (object) => `Service evil/${object}`)).toBe(10);
  });

  it('of many namespaces have a limit together, beyond which messages are counted', () => {
    expect(admitted(3_000, (object) => `ns${object % 100}/${object}`)).toBe(500);
    expect(logger.at('warn').map(({ facts }) => facts)).toEqual([{ more: 1 }]);
    for (let minute = 0; minute < 10; minute++) {
      clock.advance(60_000);
      expect(admitted(3_000, (object) => `ns${object % 100}/${object}`)).toBe(60);
    }
    const counts = logger.at('warn').map(({ facts }) => facts);
    expect(counts).toHaveLength(11);
    expect(counts.at(-1)!.more).toBeGreaterThan(1_000);
    expect(rate.admit('other/object')).toBeUndefined();
    clock.advance(60_000);
    expect(rate.admit('other/object')).toEqual({});
  });
});

it('a problem is logged when it begins, changes, or begins again', () => {
  const problem = new LastingProblem();
  const levels = ['a', 'a', new Error('b'), new Error('b')].map((reason) => problem.level(reason, 'error'));
  expect(levels).toEqual(['error', 'debug', 'error', 'debug']);
  problem.end();
  expect(problem.level('b', 'warn')).toBe('warn');
});
