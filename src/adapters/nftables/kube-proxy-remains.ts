import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * Whether the table has rules that kube-proxy left, for service ports that cannot be programmed or read
 * (docs/nftables-layout.md#taking-over-from-kube-proxy): absent → needed → left over, until a comparison has removed them.
 */
export class KubeProxyRemains {
  private isNeeded = false;

  constructor(
    private readonly family: IpFamily,
    private readonly logger: Logger,
  ) {}

  /** The table has been made as it should be, with such rules or without. */
  compared(isNeeded: boolean): void {
    if (isNeeded && !this.isNeeded)
      this.logger.warn(
        { family: this.family },
        'keeping rules of kube-proxy for service ports that cannot be programmed or read',
      );
    this.isNeeded = isNeeded;
  }

  /** A change has been written. True, once, if nothing needs them any more. */
  areLeftOver(isNeeded: boolean): boolean {
    const areLeft = this.isNeeded && !isNeeded;
    this.isNeeded = isNeeded;
    return areLeft;
  }
}
