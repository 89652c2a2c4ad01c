import type { WriteEffect, WriteWatch } from '../../application/ports/write-watch.js';
import type { NftTransport } from './transport.js';

/**
 * Tells whether any other program has committed nf_tables transactions in this network namespace, by counting ours against
 * the kernel's generation. Both families share one watch, since the kernel counts them together; so does iptables-nft, for
 * which each COMMIT is a transaction.
 *
 * It starts without knowledge. The first look takes the kernel's number as the base; each of our commits adds one to
 * what is expected; a look that finds another number starts a new epoch from there. A family that compared its table
 * in the present epoch knows that no other program has touched it since.
 */
export class GenerationWatch implements WriteWatch {
  readonly seesEveryWrite = true;
  private base: number | undefined;
  private own = 0;
  private count = 0;
  private begun = 0;
  private readonly inFlight = new Set<Promise<unknown>>();

  constructor(private readonly transport: Pick<NftTransport, 'generation'>) {}

  async ours<T>(write: () => Promise<T>, effect: (outcome: T) => WriteEffect): Promise<T> {
    this.begun++;
    const counted = write().then((outcome) => {
      this.own += effect(outcome).commits;
      return outcome;
    });
    this.inFlight.add(counted);
    try {
      return await counted;
    } finally {
      this.inFlight.delete(counted);
    }
  }

  /**
   * Undefined when the transport cannot tell. While the other family writes, the kernel may have counted what is not counted
   * here yet; the question waits until that is over.
   */
  async epoch(): Promise<number | undefined> {
    for (;;) {
      while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
      const { begun } = this;
      const generation = await this.transport.generation();
      if (generation === undefined) return undefined;
      if (begun === this.begun) return this.epochAt(generation);
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
