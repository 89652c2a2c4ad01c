import type { WriteEffect, WriteWatch } from '../../application/ports/write-watch.js';
import type { NftTransport } from './transport.js';

/**
 * Detects whether another program has committed nf_tables transactions in this network namespace, by comparing the
 * number of ours with the kernel's generation. Both families share one watch, since the kernel counts them together; so
 * does iptables-nft, for which each COMMIT is a transaction.
 *
 * The first check takes the kernel's number as the base; each of our commits adds one to the expected number; a check
 * that finds another number starts a new epoch from there. A family that compared its table in the present epoch knows
 * that no other program has written to it since.
 */
export class GenerationWatch implements WriteWatch {
  readonly seesEveryWrite = true;
  private base: number | undefined;
  private own = 0;
  private count = 0;
  private started = 0;
  private readonly inFlight = new Set<Promise<unknown>>();

  constructor(private readonly transport: Pick<NftTransport, 'generation'>) {}

  async ours<T>(write: () => Promise<T>, effect: (outcome: T) => WriteEffect): Promise<T> {
    this.started++;
    const writing = write();
    this.inFlight.add(writing);
    try {
      const outcome = await writing;
      this.own += effect(outcome).commits;
      return outcome;
    } finally {
      this.inFlight.delete(writing);
    }
  }

  /**
   * Undefined if the transport cannot tell. While the other family writes, the kernel may have counted a transaction
   * that is not counted here yet; so this waits until that write is done.
   */
  async epoch(): Promise<number | undefined> {
    for (;;) {
      while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
      const { started } = this;
      const generation = await this.transport.generation();
      if (generation === undefined) return undefined;
      if (started === this.started) return this.epochAt(generation);
    }
  }

  private epochAt(generation: number): number {
    if (this.base === undefined || generation !== (this.base + this.own) >>> 0) {
      this.base = generation - this.own;
      this.count++;
    }
    return this.count;
  }
}
