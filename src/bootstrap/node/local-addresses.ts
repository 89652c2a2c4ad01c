import { SERVICE_DEVICE } from '../../adapters/ipvs/ipvs-kernel.js';
import { InterfaceAddresses } from '../../adapters/process/host-facts.js';
import { NetlinkLocalAddresses } from '../../adapters/rtnetlink/netlink-local-addresses.js';
import type { Clock } from '../../application/ports/clock.js';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import type { Logger } from '../../application/ports/logger.js';

/** The addresses of this node. Nothing is opened before `open`, or before they are asked for. */
export class NodeAddresses implements LocalAddresses {
  private opened: LocalAddresses | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  open(): LocalAddresses {
    return (this.opened ??= openLocalAddresses(this.clock, this.logger));
  }

  list(): readonly string[] {
    return this.open().list();
  }

  follow(onChange: () => void): void {
    this.open().follow?.(onChange);
  }

  close(): void {
    this.opened?.close?.();
  }
}

/**
 * The addresses of this node, followed where netlink is available. Those of services, which mode ipvs adds to a device of
 * its own, are not among them, in any mode: they may outlive it for a while.
 */
export function openLocalAddresses(clock: Clock, logger: Logger): LocalAddresses {
  try {
    return new NetlinkLocalAddresses(SERVICE_DEVICE, clock, logger);
  } catch (error) {
    logger.warn(
      { error },
      'netlink is unavailable: interfaces without a carrier are not seen, and changed addresses only when rules are verified',
    );
    return new InterfaceAddresses();
  }
}
