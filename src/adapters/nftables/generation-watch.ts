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

  constructor(private readonly transport: NftTransport) {}

  /** A commit of ours succeeded. */
  committed(): void {
    this.own++;
  }

  /** The present epoch; undefined when the transport cannot tell, so that nothing may be concluded. */
  async epoch(): Promise<number | undefined> {
    const generation = await this.transport.generation();
    if (generation === undefined) return undefined;
    if (this.base === undefined || generation !== (this.base + this.own) >>> 0) {
      this.base = generation - this.own;
      this.count++;
    }
    return this.count;
  }
}
