import type { NftTransport } from './transport.js';

/**
 * Tells whether anybody else has committed nf_tables transactions in this network namespace, by counting ours against
 * the kernel's generation. Both families share one watch, since the kernel counts them together.
 *
 * It starts without knowledge. The first look takes the kernel's number as the base; each of our commits adds one to
 * what is expected; a look that finds another number starts a new epoch from there. A family that compared its table
 * in the present epoch knows that nobody has touched it since.
 */
export class GenerationWatch {
  private base: number | undefined;
  private own = 0;
  private count = 0;
  private begun = 0;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(private readonly transport: NftTransport) {}

  /** Makes commits of ours. How many they were is asked when they have succeeded. */
  async ours<T>(work: () => Promise<T>, commits: () => number = () => 1): Promise<T> {
    this.begun++;
    const counted = work().then((outcome) => {
      this.own += commits();
      return outcome;
    });
    this.underWay.add(counted);
    try {
      return await counted;
    } finally {
      this.underWay.delete(counted);
    }
  }

  /**
   * The present epoch; undefined when the transport cannot tell, so that nothing may be concluded. While the other family
   * writes, the kernel may have counted what is not counted here yet; the question waits until that is over.
   */
  async epoch(): Promise<number | undefined> {
    for (;;) {
      while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
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
