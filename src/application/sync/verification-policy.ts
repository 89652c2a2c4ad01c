import type { VerificationKind, VerifyResult } from '../ports/backend.js';

/** How often to look whether somebody touched the rules. */
const GLANCE_PERIOD = 1_000;
/** Where others write all the time and comparing is cheap: damage must be noticed within seconds all the same. */
const LONGEST_GLANCE_PERIOD = 3_000;
/** Comparing a large table costs the kernel time: it may take a twentieth of it at most. */
const COMPARISON_SHARE = 20;
/** Signs can deceive, so everything is compared once in so long at least. */
const LONGEST_UNCOMPARED = 3_600_000;
/** So many periods a verification may be put off by changes; then it is carried through. */
const PATIENCE = 4;

/**
 * What decides about the verifications to come. Once a second it is glanced whether the rules were touched, less often when
 * they are touched without harm. Every sync period everything is compared with the kernel where that takes less than a
 * twentieth of the time; where it takes longer, the signs are inspected less often, and everything is compared once an hour.
 * Times are in milliseconds.
 */
export interface VerificationState {
  /** Between two verifications, of whatever kind. */
  readonly glancePeriod: number;
  readonly inspectedAt: number;
  readonly comparedAt: number;
  /** How long the last comparison with the kernel took. */
  readonly comparison: number;
  /** Until then an interrupted comparison has had its share of the time. */
  readonly compareFrom: number;
}

/** From when to when a verification ran. */
export interface VerificationTime {
  readonly start: number;
  readonly end: number;
}

/** Nothing has been programmed yet. */
export const NEVER_VERIFIED: VerificationState = {
  glancePeriod: GLANCE_PERIOD,
  inspectedAt: 0,
  comparedAt: 0,
  comparison: 0,
  compareFrom: 0,
};

/** Which kind is due. */
export function verificationDue(state: VerificationState, syncPeriod: number, now: number): VerificationKind {
  const { compareFrom, comparedAt, inspectedAt } = state;
  if (now < compareFrom) return 'glance';
  if (now - comparedAt >= LONGEST_UNCOMPARED) return 'comparison';
  const period = inspectionPeriod(state, syncPeriod);
  if (now - inspectedAt < period) return 'glance';
  return period === syncPeriod ? 'comparison' : 'inspection';
}

/** Whether a change may interrupt a verification: not one that was put off for long. */
export function mayBeInterrupted(state: VerificationState, syncPeriod: number, now: number): boolean {
  return now - state.inspectedAt < PATIENCE * inspectionPeriod(state, syncPeriod);
}

/** Everything was programmed, which compares everything. */
export function afterStart(state: VerificationState, now: number): VerificationState {
  return { ...state, inspectedAt: now, comparedAt: now };
}

/** Glances are as frequent as at first. */
export function withFrequentGlances(state: VerificationState): VerificationState {
  return { ...state, glancePeriod: GLANCE_PERIOD };
}

/** A verification was carried through. */
export function afterVerification(
  state: VerificationState,
  syncPeriod: number,
  how: VerificationKind,
  { start, end }: VerificationTime,
  result: Pick<VerifyResult, 'compared' | 'written'>,
): VerificationState {
  const isHarmless = result.compared && result.written === 0;
  // A glance may compare less than everything, and a repair takes its time as well.
  const least = how === 'glance' ? state.comparison : 0;
  const next = {
    ...state,
    inspectedAt: how === 'glance' ? state.inspectedAt : end,
    comparedAt: how === 'comparison' ? end : state.comparedAt,
    comparison: isHarmless ? Math.max(least, end - start) : state.comparison,
  };
  if (!isHarmless) return withFrequentGlances(next);
  return how === 'comparison' ? next : { ...next, glancePeriod: longerGlancePeriod(next, syncPeriod) };
}

/** A change interrupted a verification. */
export function afterInterruption(
  state: VerificationState,
  how: VerificationKind,
  { start, end }: VerificationTime,
): VerificationState {
  return how === 'glance' ? state : { ...state, compareFrom: end + COMPARISON_SHARE * (end - start) };
}

function inspectionPeriod({ comparison }: VerificationState, syncPeriod: number): number {
  return Math.max(syncPeriod, COMPARISON_SHARE * comparison);
}

/** After rules were touched without harm. */
function longerGlancePeriod(state: VerificationState, syncPeriod: number): number {
  const longer = Math.min(state.glancePeriod * 2, LONGEST_GLANCE_PERIOD);
  const spared = Math.max(longer, COMPARISON_SHARE * state.comparison);
  return Math.min(inspectionPeriod(state, syncPeriod), spared);
}
