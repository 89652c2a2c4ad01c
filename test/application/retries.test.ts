import { getEventListeners } from 'node:events';
import { delay } from '../../src/application/retries.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';

it.each([false, true])('a delay leaves nothing behind, whether it is cut short: %s', async (isCutShort) => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const ended = delay(clock, 1_000, stop.signal);
  if (isCutShort) stop.abort();
  else clock.advance(1_000);
  await ended;
  expect([clock.pending, getEventListeners(stop.signal, 'abort')]).toEqual([0, []]);
  stop.abort();
  await delay(clock, 1_000, stop.signal);
  expect(clock.pending).toBe(0);
});
