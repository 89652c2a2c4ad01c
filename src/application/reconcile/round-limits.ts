/** How much one round of recovery may do. */
export interface RoundLimits {
  /** Writes that may be refused or tried. One cause among `count` service ports is found within two for each halving. */
  commits(count: number): number;
  /** So long after the first refusal no further write is tried, */
  readonly milliseconds: number;
  /** unless there were only so many: a tool may need seconds for each, and every round must get further. */
  readonly leastCommits: number;
  /** So many refusals may name service ports before all suspects are tried in groups. */
  readonly named: number;
}

/** Two causes are found in one round; so is one after a few that the kernel names. */
export const USUAL_LIMITS: RoundLimits = {
  commits: (count) => 8 + 4 * Math.ceil(Math.log2(count + 1)),
  milliseconds: 5_000,
  leastCommits: 8,
  named: 4,
};

/** How rounds of recovery are bounded. Missing: the usual limits, by the clock of the machine. */
export interface RoundBounds {
  readonly limits?: RoundLimits;
  /** Milliseconds, from any point in time. */
  readonly now?: () => number;
}
