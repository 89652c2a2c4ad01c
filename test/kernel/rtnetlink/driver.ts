import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { SERVICE_DEVICE } from '../../../src/adapters/ipvs/ipvs-kernel.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../../../src/adapters/netlink/protocol.js';
import { SystemClock } from '../../../src/adapters/process/system-clock.js';
import { NetlinkLocalAddresses } from '../../../src/adapters/rtnetlink/netlink-local-addresses.js';
import { readHostNetwork } from '../../../src/adapters/userspace/host-network.js';
import { serve } from '../../support/program/driver.js';

/** Lists and follows the addresses of the namespace it runs in. */

const logger = new MemoryLogger();
const told: number[] = [];
let dumps = 0;
/** Room for some dozen notices. */
const addresses = new NetlinkLocalAddresses(SERVICE_DEVICE, new SystemClock(), logger, (groups) => {
  if (groups === 0) dumps++;
  return NetlinkSocket.open(NETLINK_ROUTE, groups === 0 ? {} : { groups, receiveBuffer: 32 * 1024 });
});

const handlers = {
  list: () => addresses.list(),
  follow: () => addresses.follow(() => void told.push(Date.now())),
  /** When changes were told since this was last asked, in milliseconds since 1970. */
  told: () => told.splice(0),
  /** How often everything was read. */
  dumps: () => dumps,
  hostAddresses: async () => (await readHostNetwork(logger)).addresses,
};
export type AddressesDriver = typeof handlers;

void serve(handlers, () => addresses.close());
