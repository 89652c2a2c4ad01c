import type { VerificationKind, VerifyResult } from '../ports/backend.js';

/** How often to check for writes by other programs. */
const QUICK_PERIOD = 1_000;
/** If other programs write all the time and comparing is cheap: damage must still be noticed within seconds. */
const LONGEST_QUICK_PERIOD = 3_000;
/** Comparing a large table costs the kernel time: it may take at most a twentieth of the time. */
const COMPARISON_SHARE = 20;
/** Where signs show every write, comparing everything is only a precaution: it may take at most a five-thousandth of the time. */
const PRECAUTION_SHARE = 5_000;
/** Signs can be missing, so everything is compared at least this often. */
const LONGEST_UNCOMPARED = 3_600_000;
/** Changes may delay a full verification for this many periods; then it can no longer be interrupted. */
const LONGEST_DELAY = 4;

/**
 * Determines the next verifications. A quick one runs once a second, less often if other programs write without harm. A
 * full one runs every sync period if it takes less than its share of the time, otherwise as often as that allows, but at
 * least once an hour. Its share is a five-thousandth if signs show every write, and a twentieth if not. Times are in
 * milliseconds.
 */
export interface VerificationState {
  /** Time between two verifications, of any kind. */
  readonly quickPeriod: number;
  /** When the last full verification ended. */
  readonly comparedAt: number;
  /** Its duration. A start counts as one: what it does not compare, the next quick one does. */
  readonly full: number;
  /** Duration of the last comparison with the kernel. */
  readonly comparison: number;
  /** No comparison before then: an interrupted one has used up its share of the time. */
  readonly compareFrom: number;
  /** Whether signs show every write of another program. */
  readonly watched: boolean;
}

/** Start and end of a verification. */
export interface VerificationTime {
  readonly start: number;
  readonly end: number;
}

/** Nothing has been programmed yet. */
export const NEVER_VERIFIED: VerificationState = {
  quickPeriod: QUICK_PERIOD,
  comparedAt: 0,
  full: 0,
  comparison: 0,
  compareFrom: 0,
  watched: false,
};

/** The wait for the next verification. It begins with a second of the clock: then both families wake the process once. */
export function timeToVerification({ quickPeriod }: VerificationState, now: number): number {
  return quickPeriod - (now % QUICK_PERIOD);
}

/** The kind of the next verification. */
export function verificationDue(state: VerificationState, syncPeriod: number, now: number): VerificationKind {
  const { compareFrom, comparedAt } = state;
  return now >= compareFrom && now - comparedAt >= fullPeriod(state, syncPeriod) ? 'full' : 'quick';
}

/** Whether a change may interrupt a verification: not a full one that has been delayed for long. */
export function mayBeInterrupted(state: VerificationState, syncPeriod: number, now: number): boolean {
  const delay = (LONGEST_DELAY - 1) * affordablePeriod(state, syncPeriod);
  return now - state.comparedAt < fullPeriod(state, syncPeriod) + delay;
}

/** After everything was programmed, which compares or recognizes everything. */
export function afterStart(state: VerificationState, { start, end }: VerificationTime): VerificationState {
  return { ...state, comparedAt: end, full: end - start };
}

/** Quick verifications become as frequent as at first. */
export function withFrequentChecks(state: VerificationState): VerificationState {
  return { ...state, quickPeriod: QUICK_PERIOD };
}

/** After a complete verification. */
export function afterVerification(
  state: VerificationState,
  syncPeriod: number,
  how: VerificationKind,
  { start, end }: VerificationTime,
  { compared, written, watched = false }: Pick<VerifyResult, 'compared' | 'written' | 'watched'>,
): VerificationState {
  const isHarmless = compared && written === 0;
  // A quick one may compare less than everything, and a repair takes time as well.
  const least = how === 'quick' ? state.comparison : 0;
  const next = {
    ...state,
    watched,
    ...(how === 'full' && { comparedAt: end, full: end - start }),
    comparison: isHarmless ? Math.max(least, end - start) : state.comparison,
  };
  if (!isHarmless) return withFrequentChecks(next);
  return how === 'full' ? next : { ...next, quickPeriod: longerQuickPeriod(next, syncPeriod) };
}

/** After a change interrupted a verification. */
export function afterInterruption(
  state: VerificationState,
  how: VerificationKind,
  { start, end }: VerificationTime,
): VerificationState {
  return how === 'quick' ? state : { ...state, compareFrom: end + COMPARISON_SHARE * (end - start) };
}

/** Time between two full verifications. */
function fullPeriod(state: VerificationState, syncPeriod: number): number {
  const period = state.watched
    ? Math.max(syncPeriod, PRECAUTION_SHARE * state.full)
    : affordablePeriod(state, syncPeriod);
  return Math.min(period, LONGEST_UNCOMPARED);
}

/** The shortest period in which comparing takes no more than its share. */
function affordablePeriod({ comparison }: VerificationState, syncPeriod: number): number {
  return Math.max(syncPeriod, COMPARISON_SHARE * comparison);
}

/** After another program wrote without harm. One that does it once may do harm the next time, so this grows step by step. */
function longerQuickPeriod(state: VerificationState, syncPeriod: number): number {
  const longest = Math.max(LONGEST_QUICK_PERIOD, COMPARISON_SHARE * state.comparison);
  return Math.min(2 * state.quickPeriod, longest, affordablePeriod(state, syncPeriod));
}
