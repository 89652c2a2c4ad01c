import type { Logger } from '../../../application/ports/logger.js';
import { OWNED_TABLE } from '../../../domain/iptables/table.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { TablesDifference } from './tables-difference.js';

/** The unused chains of a family that could not be removed, as found last. Each reason is logged when it appears. */
export class PendingDeletions {
  private current: readonly string[] = [];
  private logged: readonly string[] = [];
  /** Some chains stay, whatever the reason. */
  areLeft = false;

  constructor(
    private readonly family: IpFamily,
    private readonly logger: Logger,
  ) {}

  /** For people: the rules of other programs that lead to such chains. */
  get reasons(): readonly string[] {
    return this.current;
  }

  /** @param failure why nothing at all could be removed, for the log alone: it may succeed the next time */
  found(held: TablesDifference['held'], failure?: string): void {
    this.areLeft = held.size > 0 || failure !== undefined;
    this.current = Array.from(held).flatMap(([chain, rule]) =>
      rule === undefined
        ? []
        : `chain ${chain} of table ${OWNED_TABLE} is used by the rule of another program \`${rule}'; delete that rule`,
    );
    const reasons = failure === undefined ? this.current : [...this.current, failure];
    for (const reason of reasons)
      if (!this.logged.includes(reason))
        this.logger.warn({ family: this.family, reason }, 'cannot remove unused chains; will retry');
    this.logged = reasons;
  }
}
