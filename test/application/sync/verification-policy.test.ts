import {
  afterInterruption,
  afterStart,
  afterVerification,
  mayBeInterrupted,
  NEVER_VERIFIED,
  verificationDue,
  withFrequentGlances,
  type VerificationState,
} from '../../../src/application/sync/verification-policy.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const PERIOD = 30 * SECOND;
const START = 100 * HOUR;
const begun = afterStart(NEVER_VERIFIED, START);
const harmless = { compared: true, written: 0 };
const untouched = { compared: false, written: 0 };
const repaired = { compared: true, written: 3 };

/** A comparison of everything, right at the start, that took so long. */
function comparedFor(milliseconds: number): VerificationState {
  const time = { start: START, end: START + milliseconds };
  return afterVerification(begun, PERIOD, 'comparison', time, harmless);
}

const glance = { start: START + SECOND, end: START + SECOND + 100 };

describe('the verification that is due', () => {
  it.each([
    ['a glance', 'until the sync period is over', begun, PERIOD - 1, 'glance'],
    ['a comparison', 'when the sync period is over', begun, PERIOD, 'comparison'],
    [
      'a comparison',
      'where it takes a twentieth of the sync period',
      comparedFor(1_500),
      31_500,
      'comparison',
    ],
    ['a glance', 'until a slow comparison had its share of the time', comparedFor(2_000), 41_999, 'glance'],
    [
      'an inspection',
      'after a slow comparison had its share of the time',
      comparedFor(2_000),
      42_000,
      'inspection',
    ],
    ['a comparison', 'an hour after a slow one', comparedFor(2_000), HOUR + 2_000, 'comparison'],
  ] as const)('is %s %s', (_, __, state, after, due) => {
    expect(verificationDue(state, PERIOD, START + after)).toBe(due);
  });

  it('is a comparison after an hour, also where the sync period is longer', () => {
    expect(verificationDue(begun, 10 * HOUR, START + HOUR - 1)).toBe('glance');
    expect(verificationDue(begun, 10 * HOUR, START + HOUR)).toBe('comparison');
  });

  it('is a glance until an interrupted comparison had its share of the time, also after an hour', () => {
    const time = { start: START + HOUR, end: START + HOUR + 100 };
    const state = afterInterruption(begun, 'comparison', time);
    expect(verificationDue(state, PERIOD, time.end + 1_999)).toBe('glance');
    expect(verificationDue(state, PERIOD, time.end + 2_000)).toBe('comparison');
    expect(afterInterruption(begun, 'glance', time)).toBe(begun);
  });

  it('counts from the end of the last inspection, and a glance is none', () => {
    const time = { start: START + PERIOD, end: START + PERIOD + 10 };
    const inspected = afterVerification(begun, PERIOD, 'inspection', time, untouched);
    expect(verificationDue(inspected, PERIOD, time.end + PERIOD - 1)).toBe('glance');
    const glanced = afterVerification(begun, PERIOD, 'glance', time, untouched);
    expect(verificationDue(glanced, PERIOD, time.end)).toBe('comparison');
  });
});

describe('glances', () => {
  const glanced = (state: VerificationState, result: typeof harmless, time = glance) =>
    afterVerification(state, PERIOD, 'glance', time, result);

  it('become rarer, up to three seconds, while rules are touched without harm', () => {
    const once = glanced(begun, harmless);
    const twice = glanced(once, harmless);
    const periods = [begun, once, twice, glanced(twice, harmless)].map(({ glancePeriod }) => glancePeriod);
    expect(periods).toEqual([1_000, 2_000, 3_000, 3_000]);
  });

  it.each([
    ['nobody touched them', untouched],
    ['they were repaired', repaired],
  ])('are frequent again when %s', (_, result) => {
    expect(glanced(glanced(begun, harmless), result).glancePeriod).toBe(1_000);
  });

  it('take a twentieth of the time where comparing is slow, but are no rarer than inspections', () => {
    const slow = { start: START, end: START + 500 };
    expect(glanced(begun, harmless, slow).glancePeriod).toBe(10_000);
    expect(glanced(comparedFor(4_000), harmless, slow).glancePeriod).toBe(80_000);
    expect(afterVerification(begun, 1_500, 'glance', glance, harmless).glancePeriod).toBe(2_000);
    expect(afterVerification(begun, 1_500, 'glance', { start: 0, end: 1 }, harmless).glancePeriod).toBe(
      1_500,
    );
  });

  it('are left alone by a comparison, and are frequent again when the periods change', () => {
    const rarer = glanced(begun, harmless);
    expect(afterVerification(rarer, PERIOD, 'comparison', glance, harmless).glancePeriod).toBe(2_000);
    expect(withFrequentGlances(rarer)).toEqual({ ...rarer, glancePeriod: 1_000 });
  });
});

describe('how long a comparison takes', () => {
  it.each([
    ['is that of the last one', 'comparison', harmless, 100],
    ['does not shrink by a glance, which may compare less', 'glance', harmless, 2_000],
    ['does not show where something was repaired', 'comparison', repaired, 2_000],
    ['does not show where nothing was compared', 'inspection', untouched, 2_000],
  ] as const)('%s', (_, how, result, took) => {
    expect(afterVerification(comparedFor(2_000), PERIOD, how, glance, result).comparison).toBe(took);
  });
});

it('a change may interrupt a verification until it was put off for four periods', () => {
  expect(mayBeInterrupted(begun, PERIOD, START + 4 * PERIOD - 1)).toBe(true);
  expect(mayBeInterrupted(begun, PERIOD, START + 4 * PERIOD)).toBe(false);
  expect(mayBeInterrupted(comparedFor(2_000), PERIOD, START + 2_000 + 160_000 - 1)).toBe(true);
});
