import { SERVICE_DEVICE } from '../adapters/ipvs/kernel/service-addresses.js';
import { InterfaceAddresses } from '../adapters/process/interface-addresses.js';
import { NetlinkLocalAddresses } from '../adapters/rtnetlink/netlink-local-addresses.js';
import type { Clock } from '../application/ports/clock.js';
import type { LocalAddresses } from '../application/ports/local-addresses.js';
import type { Logger } from '../application/ports/logger.js';

/**
 * The addresses of this node, followed where netlink is to be had. Those of services, which mode ipvs puts onto a device of
 * its own, are not among them, in whichever mode: they may outlive it for a while.
 */
export function openLocalAddresses(clock: Clock, logger: Logger): LocalAddresses {
  try {
    return new NetlinkLocalAddresses(SERVICE_DEVICE, clock, logger);
  } catch (error) {
    logger.warn(
      { error },
      'netlink is not to be had: addresses of interfaces without a carrier are not seen, and changes only when rules are verified',
    );
    return new InterfaceAddresses();
  }
}
