import { RemainingRules } from '../../../src/application/status/remaining-rules.js';
import {
  cleanUpOtherModes,
  type Leftovers,
  type RemovalProgress,
} from '../../../src/bootstrap/modes/remove-other-modes.js';
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
  expect(remainingRules.reasons).toEqual(FAILED.failed);
  for (const pause of [999, 1, 1_999, 1]) {
    clock.advance(pause);
    await settled();
  }
  await done;
  expect(attempts).toEqual([0, 1_000, 3_000]);
  expect(remainingRules.reasons).toEqual([]);
});

it('tries once where nothing failed, whatever is left', async () => {
  const { remainingRules, attempts, done } = begin([{ failed: [], left: ['cannot check for rules'] }]);
  await done;
  expect([attempts, remainingRules.reasons]).toEqual([[0], []]);
});

it('tells of rules that are being removed, until that is done, or only connections are waited for', async () => {
  const remainingRules = new RemainingRules();
  const parts = { clock: new FakeClock(0), logger: new MemoryLogger(), remainingRules };
  let progress!: RemovalProgress;
  let end!: (leftovers: Leftovers) => void;
  const remove = (told: RemovalProgress): Promise<Leftovers> => {
    progress = told;
    return new Promise((resolve) => (end = resolve));
  };
  const done = cleanUpOtherModes(remove, parts, new AbortController().signal);
  expect(remainingRules.removing).toBeUndefined();
  progress.begins();
  expect(remainingRules.removing).toContain('packets may match them');
  progress.waits();
  expect(remainingRules.removing).toBeUndefined();
  progress.begins();
  end(DONE);
  await done;
  expect(remainingRules.reasons).toEqual([]);
});

it('tells why an attempt failed also during the next one, and of no failure while it waits for connections', async () => {
  const clock = new FakeClock(0);
  const remainingRules = new RemainingRules();
  const stopping = new AbortController();
  let progress!: RemovalProgress;
  let attempts = 0;
  const remove = (told: RemovalProgress): Promise<Leftovers> => {
    progress = told;
    progress.begins();
    return ++attempts === 1 ? Promise.resolve(FAILED) : new Promise(() => {});
  };
  void cleanUpOtherModes(remove, { clock, logger: new MemoryLogger(), remainingRules }, stopping.signal);
  await settled();
  expect(remainingRules.reasons).toEqual(FAILED.failed);
  clock.advance(1_000);
  await settled();
  expect([attempts, remainingRules.reasons]).toEqual([2, FAILED.failed]);
  progress.waits();
  expect(remainingRules.reasons).toEqual([]);
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
