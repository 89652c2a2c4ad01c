import type { RestoreOutcome } from './iptables-commands.js';

/** What a restore of ours did, if nobody else did anything meanwhile. */
export interface RestoreEffect {
  readonly commits: number;
  /** By how many entries the tables have grown: a rule is one, a chain two by itself. Undefined when that is not known. */
  readonly entriesGained: number | undefined;
}

/**
 * Tells cheaply whether anybody else has changed the rules. A driver that compared the rules in the present epoch knows
 * that nobody has touched them since.
 */
export interface RulesWatch {
  /** Makes a restore of ours. What it did is asked when it has succeeded. */
  ours(restore: () => Promise<RestoreOutcome>, effect: () => RestoreEffect): Promise<RestoreOutcome>;
  /** The present epoch; undefined when it cannot tell, so that nothing may be concluded. */
  epoch(): Promise<number | undefined>;
}

/** For hosts where nothing cheap tells. */
export const BLIND_WATCH: RulesWatch = {
  ours: (restore) => restore(),
  epoch: () => Promise.resolve(undefined),
};
