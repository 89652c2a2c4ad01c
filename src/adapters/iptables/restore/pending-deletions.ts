import type { Logger } from '../../../application/ports/logger.js';
import { OWNED_TABLE, type RuleText } from '../../../domain/iptables/table.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** Why unused chains of a family cannot be removed, as found last. Each reason is logged when it appears. */
export class PendingDeletions {
  private current: readonly string[] = [];

  constructor(
    private readonly family: IpFamily,
    private readonly logger: Logger,
  ) {}

  get reasons(): readonly string[] {
    return this.current;
  }

  /** @param chains those that remain, each with the rule of another program that leads to it */
  held(chains: ReadonlyMap<string, RuleText>): void {
    this.replace(
      Array.from(
        chains,
        ([chain, rule]) =>
          `chain ${chain} of table ${OWNED_TABLE} is used by the rule of another program \`${rule}'; delete that rule`,
      ),
    );
  }

  failed(reason: string): void {
    this.replace([reason]);
  }

  private replace(reasons: readonly string[]): void {
    for (const reason of reasons)
      if (!this.current.includes(reason))
        this.logger.warn({ family: this.family, reason }, 'cannot remove unused chains; will retry');
    this.current = reasons;
  }
}
