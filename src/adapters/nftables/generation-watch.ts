import type { WriteWatch } from '../../application/ports/driver.js';
import type { NftTransport } from './transport.js';

/** The numbers that the kernel gave the transactions of a write, where it reports them. One that changed nothing gets none. */
interface NumberedWrite {
  readonly generations?: readonly number[] | undefined;
}

/**
 * Detects whether another program has committed nf_tables transactions in this network namespace. The kernel numbers all
 * that change something, whichever program commits them (the generation), and reports to us the numbers of our own. Both families
 * share one watch, since the kernel numbers them together; so does iptables-nft, for which each COMMIT is a transaction.
 *
 * The first check takes the kernel's number as known; every number of ours that follows a known one is known, too. A check
 * that finds an unknown number starts a new epoch from there: another program's transaction lies between, or one of ours that
 * was not reported. If a family compared its table in the current epoch, no other program has written to it
 * since.
 */
export class GenerationWatch implements WriteWatch {
  readonly seesEveryWrite = true;
  /** The last one up to which all are known. */
  private known: number | undefined;
  /** Our own after that. */
  private readonly ahead = new Set<number>();
  private count = 0;
  private started = 0;
  private readonly inFlight = new Set<Promise<unknown>>();

  constructor(private readonly transport: Pick<NftTransport, 'generation'>) {}

  /** Runs a write of our own. `effect` is called if it succeeds. */
  async ours<T>(write: () => Promise<T>, effect: (outcome: T) => NumberedWrite): Promise<T> {
    this.started++;
    const writing = write();
    this.inFlight.add(writing);
    try {
      const outcome = await writing;
      for (const generation of effect(outcome).generations ?? []) this.ahead.add(generation);
      return outcome;
    } finally {
      this.inFlight.delete(writing);
      this.advance();
    }
  }

  /**
   * While the other family writes, the kernel may have numbered a transaction that is not reported here yet; so this waits
   * until that write is done.
   */
  async epoch(): Promise<number> {
    for (;;) {
      while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
      const { started } = this;
      const generation = await this.transport.generation();
      if (started === this.started) return this.epochAt(generation);
    }
  }

  /** Begins a new epoch without a foreign write: each family compares its table once more. */
  beginEpoch(): void {
    this.count++;
  }

  private epochAt(generation: number): number {
    if (generation !== this.known) this.count++;
    this.known = generation;
    return this.count;
  }

  private advance(): void {
    while (this.known !== undefined && this.ahead.delete(following(this.known)))
      this.known = following(this.known);
    // When all of ours are reported, what is missing before the rest is not ours, so the rest will never be known.
    if (this.inFlight.size === 0) this.ahead.clear();
  }
}

/** The kernel skips 0. */
function following(generation: number): number {
  return (generation + 1) >>> 0 || 1;
}
