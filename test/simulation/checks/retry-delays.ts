/** Of what is tried again after a second, two, four …: the first delay, and the longest one, in seconds (docs/recovery.md). */
export const RETRY_DELAYS = { first: 1, longest: 60 } as const;
