import type { RulesWatch } from './rules-watch.js';

/** What counts the commits to nf_tables of everybody, and ours apart (nftables/generation-watch.ts). */
interface GenerationCounter {
  committed(): void;
  epoch(): Promise<number | undefined>;
}

/**
 * For iptables-nft: each COMMIT is a transaction of nf_tables. Both families share the watch, since the kernel counts
 * them together; while one of them writes, the count is in between, and the other waits with its question.
 */
export class NftWatch implements RulesWatch {
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(private readonly counter: GenerationCounter) {}

  async ours<T>(work: () => Promise<T>, commits: () => number): Promise<T> {
    const counted = work().then((outcome) => {
      for (let number = commits(); number > 0; number--) this.counter.committed();
      return outcome;
    });
    this.underWay.add(counted);
    try {
      return await counted;
    } finally {
      this.underWay.delete(counted);
    }
  }

  async epoch(): Promise<number | undefined> {
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
    return this.counter.epoch();
  }
}
