import type { BackoffTimes } from './retry/backoff.js';

/** Milliseconds, unless noted otherwise. */
export interface ReflectorTimings {
  /** Lists by a watch where the server offers it. */
  readonly streamLists: boolean;
  /** Objects in a page of a list. */
  readonly pageSize: number;
  /** A watch is requested for a random time between these. */
  readonly watchMinimum: number;
  readonly watchMaximum: number;
  /** A watch that received nothing for a random time between these may hang: bookmarks come about once a minute. */
  readonly silenceMinimum: number;
  readonly silenceMaximum: number;
  /** A watch that ended earlier than this, without any event, counts as a failure; only one that lasts this long as a success. */
  readonly watchTooShort: number;
  readonly backoff: BackoffTimes;
  /** A resource that the server does not have is requested again after this and a random time up to as much again. */
  readonly absentRetry: number;
  /** A lasting failure is logged once in this time. */
  readonly warnEvery: number;
}

export const defaultReflectorTimings: ReflectorTimings = {
  streamLists: true,
  pageSize: 500,
  watchMinimum: 300_000,
  watchMaximum: 600_000,
  silenceMinimum: 120_000,
  silenceMaximum: 150_000,
  watchTooShort: 1_000,
  backoff: { initial: 1_600, maximum: 60_000, resetAfter: 120_000 },
  absentRetry: 300_000,
  warnEvery: 30_000,
};
