import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { ServiceFailure } from '../ports/backend.js';
import type { Adoption, OwnRemains } from '../ports/driver/abilities.js';

type Abilities<Actual> = Pick<Adoption<unknown, Actual>, 'udpFrontends' | 'lost'> & OwnRemains;

/**
 * The UDP frontends that an earlier process left, and which of them are lost (`ApplyResult.lost`). After a start those are that the
 * rules no longer have. A service port that the start could not program keeps the frontends that it had, and so does the kernel what could
 * not be removed: they are lost when that is done at last. Until then they are remembered here.
 */
export class LeftFrontends<Actual> {
  private left: readonly FrontendAddress[] = [];
  private readonly refused = new Set<ServicePortKey>();

  constructor(private readonly driver: Partial<Abilities<Actual>>) {}

  /**
   * Everything was programmed, but for what failed.
   * @param actual what the kernel had before
   * @returns undefined if the driver cannot tell
   */
  started(actual: Actual, failed: readonly ServiceFailure[]): readonly FrontendAddress[] | undefined {
    this.refused.clear();
    for (const { key } of failed) this.refused.add(key);
    this.left = this.driver.udpFrontends?.(actual) ?? [];
    return this.driver.lost && this.lost();
  }

  /** Changes were programmed, but for what failed. @returns undefined if it is as before */
  applied(
    changes: readonly ForwardingChange[],
    failed: readonly ServiceFailure[],
  ): readonly FrontendAddress[] | undefined {
    if (this.left.length === 0) return undefined;
    const stillRefused = new Set(failed.map(({ key }) => key));
    const programmed = changes.filter(({ key }) => !stillRefused.has(key) && this.refused.delete(key));
    return programmed.length > 0 ? this.lost() : undefined;
  }

  /** Everything was compared and repaired. @returns undefined if it is as before */
  repaired(): readonly FrontendAddress[] | undefined {
    return this.left.length > 0 ? this.lost() : undefined;
  }

  private lost(): readonly FrontendAddress[] {
    // To find out takes a look at everything that is desired.
    const lost = this.left.length > 0 ? (this.driver.lost?.(this.left) ?? []) : [];
    const known = new Set(lost);
    const isWaiting = this.refused.size > 0 || this.driver.hasOwnRemains;
    this.left = isWaiting ? this.left.filter((frontend) => !known.has(frontend)) : [];
    return lost;
  }
}
