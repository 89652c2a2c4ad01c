/**
 * Tells cheaply whether anybody else has changed the rules. A driver that compared the rules in the present epoch knows
 * that nobody has touched them since.
 */
export interface RulesWatch {
  /** Does work of ours. How many commits it made is asked when it has succeeded. */
  ours<T>(work: () => Promise<T>, commits: () => number): Promise<T>;
  /** The present epoch; undefined when it cannot tell, so that nothing may be concluded. */
  epoch(): Promise<number | undefined>;
}

/** For hosts where nothing cheap tells. */
export const BLIND_WATCH: RulesWatch = {
  ours: (work) => work(),
  epoch: () => Promise.resolve(undefined),
};
