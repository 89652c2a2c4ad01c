import { RemainingRules } from '../../../src/application/status/remaining-rules.js';
import { cleanUpOtherModes } from '../../../src/bootstrap/modes/clean-up-other-modes.js';
import type { Leftovers } from '../../../src/bootstrap/modes/remove-other-modes.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

const FAILED: Leftovers = { failed: ['cannot remove the rules of mode ipvs: EBUSY'], left: [] };
const DONE: Leftovers = { failed: [], left: [] };

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** @param outcomes of one attempt after the other */
function begin(outcomes: readonly Leftovers[]) {
  const clock = new FakeClock(0);
  const remainingRules = new RemainingRules();
  const stopping = new AbortController();
  const attempts: number[] = [];
  const remove = () => Promise.resolve(outcomes[attempts.push(clock.steady()) - 1]!);
  const parts = { clock, logger: new MemoryLogger(), remainingRules };
  const done = cleanUpOtherModes(remove, parts, stopping.signal);
  return { clock, remainingRules, stopping, attempts, done };
}

it('tries again after longer and longer pauses what failed, and tells of it until it is done', async () => {
  const { clock, remainingRules, attempts, done } = begin([FAILED, FAILED, DONE]);
  await settled();
  expect(remainingRules.failures).toEqual(FAILED.failed);
  for (const pause of [999, 1, 1_999, 1]) {
    clock.advance(pause);
    await settled();
  }
  await done;
  expect(attempts).toEqual([0, 1_000, 3_000]);
  expect(remainingRules.failures).toEqual([]);
});

it('tries once where nothing failed, whatever is left', async () => {
  const { remainingRules, attempts, done } = begin([{ failed: [], left: ['cannot check for rules'] }]);
  await done;
  expect([attempts, remainingRules.failures]).toEqual([[0], []]);
});

it('tells of no failure any more while it waits for connections', async () => {
  const clock = new FakeClock(0);
  const remainingRules = new RemainingRules();
  const stopping = new AbortController();
  let attempts = 0;
  const remove = (waiting: () => void): Promise<Leftovers> => {
    if (++attempts === 1) return Promise.resolve(FAILED);
    waiting();
    return new Promise(() => {});
  };
  void cleanUpOtherModes(remove, { clock, logger: new MemoryLogger(), remainingRules }, stopping.signal);
  await settled();
  expect(remainingRules.failures).toEqual(FAILED.failed);
  clock.advance(1_000);
  await settled();
  expect([attempts, remainingRules.failures]).toEqual([2, []]);
});

it('ends with the program', async () => {
  const { stopping, attempts, done } = begin([FAILED]);
  await settled();
  stopping.abort();
  await Promise.race([
    done,
    new Promise((_, reject) => setTimeout(() => reject(new Error('goes on')), 1_000)),
  ]);
  expect(attempts).toEqual([0]);
});
