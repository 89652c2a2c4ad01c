import {
  afterInterruption,
  afterStart,
  afterVerification,
  mayBeInterrupted,
  NEVER_VERIFIED,
  timeToVerification,
  verificationDue,
  withFrequentChecks,
  type VerificationState,
} from '../../../src/application/sync/verification-policy.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const PERIOD = 30 * SECOND;
const START = 100 * HOUR;
const begun = afterStart(NEVER_VERIFIED, { start: START, end: START });
const harmless = { compared: true, written: 0, watched: true };
const untouched = { compared: false, written: 0, watched: true };
const repaired = { compared: true, written: 3, watched: true };
const blind = { compared: true, written: 0 };

/** A full verification, right at the start, that took so long. */
function comparedFor(milliseconds: number, result: typeof blind = harmless): VerificationState {
  const time = { start: START, end: START + milliseconds };
  return afterVerification(begun, PERIOD, 'full', time, result);
}

const quickTime = { start: START + SECOND, end: START + SECOND + 100 };

describe('the verification that is due', () => {
  it.each([
    ['quick', 'until the sync period is over', begun, PERIOD - 1],
    ['full', 'when the sync period is over', begun, PERIOD],
    ['full', 'after a sync period where it takes a twentieth of it', comparedFor(1_500, blind), 31_500],
    [
      'full',
      'after a sync period where signs show every write and it takes a moment',
      comparedFor(6),
      30_006,
    ],
    ['quick', 'until it takes a five-thousandth of the time where signs do', comparedFor(100), 500_099],
    ['full', 'after that', comparedFor(100), 500_100],
    ['quick', 'for an hour where it takes long', comparedFor(2_000), HOUR + 1_999],
    ['full', 'after that hour', comparedFor(2_000), HOUR + 2_000],
    ['quick', 'until it had its share of the time where nothing shows', comparedFor(2_000, blind), 41_999],
    ['full', 'after it had its share of the time', comparedFor(2_000, blind), 42_000],
    ['full', 'after an hour at the latest', comparedFor(HOUR, blind), 2 * HOUR],
  ] as const)('is %s %s', (due, _, state, after) => {
    expect(verificationDue(state, PERIOD, START + after)).toBe(due);
  });

  it('is full after an hour, also where the sync period is longer', () => {
    expect(verificationDue(begun, 10 * HOUR, START + HOUR - 1)).toBe('quick');
    expect(verificationDue(begun, 10 * HOUR, START + HOUR)).toBe('full');
  });

  it('is quick until an interrupted comparison had its share of the time, also after an hour', () => {
    const time = { start: START + HOUR, end: START + HOUR + 100 };
    const state = afterInterruption(begun, 'full', time);
    expect(verificationDue(state, PERIOD, time.end + 1_999)).toBe('quick');
    expect(verificationDue(state, PERIOD, time.end + 2_000)).toBe('full');
    expect(afterInterruption(begun, 'quick', time)).toBe(begun);
  });

  it('is as rare after a start where signs show every write: that compares as well', () => {
    const started = afterStart(NEVER_VERIFIED, { start: START - 100, end: START });
    const watched = afterVerification(started, PERIOD, 'quick', { start: START, end: START }, untouched);
    expect(verificationDue(watched, PERIOD, START + 499_999)).toBe('quick');
    expect(verificationDue(watched, PERIOD, START + 500_000)).toBe('full');
    const unwatched = afterVerification(
      started,
      PERIOD,
      'quick',
      { start: START, end: START },
      { ...untouched, watched: false },
    );
    expect(verificationDue(unwatched, PERIOD, START + PERIOD)).toBe('full');
  });

  it('counts from the end of the last full one', () => {
    const time = { start: START + PERIOD, end: START + PERIOD + 10 };
    const compared = afterVerification(begun, PERIOD, 'full', time, blind);
    expect(verificationDue(compared, PERIOD, time.end + PERIOD - 1)).toBe('quick');
    const checked = afterVerification(begun, PERIOD, 'quick', time, untouched);
    expect(verificationDue(checked, PERIOD, time.end)).toBe('full');
  });
});

describe('quick verifications', () => {
  const checked = (state: VerificationState, result: typeof harmless, time = quickTime) =>
    afterVerification(state, PERIOD, 'quick', time, result);

  it('become rarer, up to three seconds, while other programs write without harm', () => {
    const once = checked(begun, harmless);
    const twice = checked(once, harmless);
    const periods = [begun, once, twice, checked(twice, harmless)].map(({ quickPeriod }) => quickPeriod);
    expect(periods).toEqual([1_000, 2_000, 3_000, 3_000]);
  });

  it('come with the seconds of the clock, so that those of both families come together', () => {
    expect([0, 1, 999].map((after) => timeToVerification(begun, START + after))).toEqual([1_000, 999, 1]);
    const rarer = checked(begun, harmless);
    expect(timeToVerification(rarer, START + 300)).toBe(1_700);
  });

  it.each([
    ['no program wrote', untouched],
    ['rules were repaired', repaired],
  ])('are frequent again when %s', (_, result) => {
    expect(checked(checked(begun, harmless), result).quickPeriod).toBe(1_000);
  });

  it('come soon after one harmless write, and take a twentieth of the time after many, where comparing is slow', () => {
    const slow = { start: START, end: START + 500 };
    const periodsFrom = (state: VerificationState) =>
      Array.from({ length: 8 }, () => (state = checked(state, harmless, slow)).quickPeriod / SECOND);
    expect(periodsFrom(begun)).toEqual([2, 4, 8, 10, 10, 10, 10, 10]);
    expect(periodsFrom(comparedFor(4_000))).toEqual([2, 4, 8, 16, 32, 64, 80, 80]);
    expect(afterVerification(begun, 1_500, 'quick', quickTime, harmless).quickPeriod).toBe(2_000);
    expect(afterVerification(begun, 1_500, 'quick', { start: 0, end: 1 }, harmless).quickPeriod).toBe(1_500);
  });

  it('are left alone by a full one, and are frequent again when the periods change', () => {
    const rarer = checked(begun, harmless);
    expect(afterVerification(rarer, PERIOD, 'full', quickTime, harmless).quickPeriod).toBe(2_000);
    expect(withFrequentChecks(rarer)).toEqual({ ...rarer, quickPeriod: 1_000 });
  });
});

describe('how long a comparison takes', () => {
  it.each([
    ['is that of the last full one', 'full', harmless, 100],
    ['does not shrink by a quick one, which may compare less', 'quick', harmless, 2_000],
    ['does not show where something was repaired', 'full', repaired, 2_000],
    ['does not show where nothing was compared', 'full', untouched, 2_000],
  ] as const)('%s', (_, how, result, took) => {
    expect(afterVerification(comparedFor(2_000), PERIOD, how, quickTime, result).comparison).toBe(took);
  });
});

it('a change may interrupt a verification until a full one was delayed for three more periods', () => {
  expect(mayBeInterrupted(begun, PERIOD, START + 4 * PERIOD - 1)).toBe(true);
  expect(mayBeInterrupted(begun, PERIOD, START + 4 * PERIOD)).toBe(false);
  const slow = comparedFor(2_000, blind);
  expect(mayBeInterrupted(slow, PERIOD, START + 2_000 + 160_000 - 1)).toBe(true);
  expect(mayBeInterrupted(slow, PERIOD, START + 2_000 + 160_000)).toBe(false);
});
