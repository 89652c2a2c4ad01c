import type { Clock } from '../../../application/ports/clock.js';

/** A page that is open asks every few seconds; rules of another variant come once in the life of a node. */
const PERIOD_MILLISECONDS = 10_000;

/** Whether the node uses both variants of iptables, for `status`. It looks only when somebody asks. */
export class VariantMix {
  /** What was found last, for people. */
  current: readonly string[] = [];
  private lookedAt: number | undefined;

  /** @param find does not reject */
  constructor(
    private readonly find: () => Promise<readonly string[]>,
    private readonly clock: Pick<Clock, 'steady'>,
  ) {}

  /** Looks again, unless it has just done so. */
  async renew(): Promise<void> {
    const now = this.clock.steady();
    if (this.lookedAt !== undefined && now < this.lookedAt + PERIOD_MILLISECONDS) return;
    this.lookedAt = now;
    this.current = await this.find();
  }
}
