import { MessageRate } from '../../src/application/message-rate.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';

let clock: FakeClock;
let rate: MessageRate;

beforeEach(() => {
  clock = new FakeClock();
  rate = new MessageRate(clock);
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

it('forgets objects without recent messages, not those that send too many', () => {
  for (let message = 0; message < 9; message++) rate.admit('a');
  for (let object = 0; object < 5_000; object++) {
    rate.admit(`b${object}`);
    if (object % 100 === 0) expect(rate.admit('a')).toBeUndefined();
  }
});
