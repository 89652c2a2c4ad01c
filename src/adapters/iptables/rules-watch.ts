/**
 * Tells cheaply whether anybody else has changed the rules. A driver that compared the rules in the present epoch knows
 * that nobody has touched them since.
 */
export interface RulesWatch {
  /** So many commits of ours succeeded. */
  committed(count: number): void;
  /** The present epoch; undefined when it cannot tell, so that nothing may be concluded. */
  epoch(): Promise<number | undefined>;
}

/** For hosts where nothing cheap tells. */
export const BLIND_WATCH: RulesWatch = {
  committed() {},
  epoch: () => Promise.resolve(undefined),
};

/** What counts the commits to nf_tables of everybody, and ours apart (nftables/generation-watch.ts). */
interface GenerationCounter {
  committed(): void;
  epoch(): Promise<number | undefined>;
}

/** For iptables-nft: each COMMIT is a transaction of nf_tables. Both families share the counter. */
export function watchGenerations(counter: GenerationCounter): RulesWatch {
  return {
    committed(count) {
      for (let number = 0; number < count; number++) counter.committed();
    },
    epoch: () => counter.epoch(),
  };
}
