import type { RestoreOutcome } from './iptables-commands.js';
import type { RestoreEffect, RulesWatch } from './rules-watch.js';

/** Tells commits to nf_tables of ours from those of others (nftables/generation-watch.ts). */
interface CommitCounter {
  ours<T>(work: () => Promise<T>, effect: () => { commits: number }): Promise<T>;
  epoch(): Promise<number | undefined>;
}

/**
 * For iptables-nft: each COMMIT is a transaction of nf_tables. Both families share the watch, since the kernel counts
 * them together.
 */
export class NftWatch implements RulesWatch {
  constructor(private readonly counter: CommitCounter) {}

  ours(restore: () => Promise<RestoreOutcome>, effect: () => RestoreEffect): Promise<RestoreOutcome> {
    return this.counter.ours(restore, () => ({ commits: effect().commits }));
  }

  epoch(): Promise<number | undefined> {
    return this.counter.epoch();
  }
}
