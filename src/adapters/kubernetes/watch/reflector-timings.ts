/** Milliseconds, unless noted otherwise. */
export const defaultReflectorTimings = {
  /** Lists by a watch where the server offers it. */
  streamLists: true,
  /** Objects in a page of a list. */
  pageSize: 500,
  /** A watch is requested for a random time between these. */
  watchMinimum: 300_000,
  watchMaximum: 600_000,
  /** A watch that received nothing for a random time between these may hang: bookmarks come about once a minute. */
  silenceMinimum: 120_000,
  silenceMaximum: 150_000,
  /** A watch that ended earlier than this, without any event, counts as a failure; only one that lasts this long as a success. */
  watchTooShort: 1_000,
  backoff: { initial: 1_600, maximum: 60_000, resetAfter: 120_000 },
  /** A resource that the server does not have is requested again after this and a random time up to as much again. */
  absentRetry: 300_000,
  /** A lasting failure is logged once in this time. */
  warnEvery: 30_000,
};

export type ReflectorTimings = Readonly<typeof defaultReflectorTimings>;
