import { IpSetTool } from '../../../../src/adapters/ipset/ipset-tool.js';
import { IptablesDriver } from '../../../../src/adapters/iptables/iptables-driver.js';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../../../../src/adapters/iptables/iptables-watch.js';
import { cleanUpScripts } from '../../../../src/adapters/iptables/owned-chains.js';
import { IPVS_OWNED_CHAINS } from '../../../../src/adapters/ipvs/clean-up-ipvs.js';
import type { IpvsKernel } from '../../../../src/adapters/ipvs/ipvs-driver.js';
import { NetlinkServiceAddresses } from '../../../../src/adapters/ipvs/netlink-service-addresses.js';
import { NetlinkVirtualServers } from '../../../../src/adapters/ipvs/netlink-virtual-servers.js';
import type { Backend } from '../../../../src/application/ports/backend.js';
import type { IptablesHost } from '../../../../src/domain/iptables/options.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { ipvsBackend } from '../../../support/backends.js';

/** IPVS mode for one family, as the program opens it, in the network namespace of this process. */
export function openIpvs(family: IpFamily, rulesHost: IptablesHost): Backend {
  const iptables = new IptablesTool({ variant: 'legacy' });
  const logger = new MemoryLogger();
  const host = () => Promise.resolve(rulesHost);
  const kernel: IpvsKernel = {
    servers: new NetlinkVirtualServers(),
    addresses: new NetlinkServiceAddresses(),
    sets: new IpSetTool(),
    rules: (baseRules) =>
      new IptablesDriver(family, iptables, new LegacyWatch(family), host, logger, {
        baseRules,
        cleanUp: (saved) => cleanUpScripts(saved, IPVS_OWNED_CHAINS),
      }),
    servedByIptables: () => Promise.resolve(false),
  };
  return ipvsBackend(family, kernel, new FakeClock(), logger, { scheduler: 'rr', excludeCIDRs: [] });
}
