import { expect } from 'expect';
import { before, beforeEach, describe, it } from 'node:test';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { IpSetTool } from '../../../../src/adapters/ipset/ipset-tool.js';
import { cleanUpScripts } from '../../../../src/adapters/iptables/clean-up-scripts.js';
import { IptablesBackend } from '../../../../src/adapters/iptables/iptables-backend.js';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../../../../src/adapters/iptables/legacy-watch.js';
import { IPVS_BELONGINGS } from '../../../../src/adapters/ipvs/belongings.js';
import { IpvsBackend, type IpvsKernel } from '../../../../src/adapters/ipvs/ipvs-backend.js';
import { NetlinkServiceAddresses } from '../../../../src/adapters/ipvs/netlink-service-addresses.js';
import { NetlinkVirtualServers } from '../../../../src/adapters/ipvs/netlink-virtual-servers.js';
import { IP_FAMILIES, type IpFamily } from '../../../../src/domain/net/ip-family.js';
import { readScenario, scenarioNames } from '../../../support/recorded/scenarios.js';
import {
  forwardingTable,
  RECORDED_HOST,
  recordedContext,
  recordedState,
} from '../../../support/recorded/cluster.js';
import { emptyNode, leaveRecorded } from './recorded-kernel.js';
import { here, tool } from './tool.js';

function backendOf(family: IpFamily): IpvsBackend {
  const iptables = new IptablesTool({ variant: 'legacy' });
  const logger = new MemoryLogger();
  const host = () => Promise.resolve(RECORDED_HOST);
  const kernel: IpvsKernel = {
    servers: new NetlinkVirtualServers(),
    addresses: new NetlinkServiceAddresses(),
    sets: new IpSetTool(),
    rules: (source) =>
      new IptablesBackend(family, iptables, new LegacyWatch(family), host, logger, {
        ...source,
        cleanUp: (saved) => cleanUpScripts(saved, IPVS_BELONGINGS),
      }),
    servedByIptables: () => Promise.resolve(false),
  };
  return new IpvsBackend(family, kernel, new FakeClock(), logger, { scheduler: 'rr', excludeCIDRs: [] });
}

describe('taking over from kube-proxy in mode ipvs', async () => {
  before(() => tool('modprobe', '-a', 'ip_vs', 'ip_set', 'nf_conntrack_netlink', 'dummy'));
  beforeEach(() => emptyNode(here));

  for (const name of await scenarioNames())
    it(`writes nothing, and finds nothing to repair, in ${name}`, async () => {
      for (const step of (await readScenario(name, 'ipvs')).steps) {
        await emptyNode(here);
        await leaveRecorded(here, step);
        for (const family of IP_FAMILIES) {
          const recorded = { scenario: name, step: step.number };
          const state = recordedState(recorded);
          const context = recordedContext(recorded, state, family, 'ipvs');
          const backend = backendOf(family);
          const entries = forwardingTable(state, context).entries();
          const started = await backend.start(entries, context.network);
          expect({ ...recorded, family, ...started }).toMatchObject({ family, written: 0, failed: [] });
          const verified = await backend.verify('inspection');
          expect({ ...recorded, family, ...verified }).toMatchObject({ written: 0, failed: [] });
          await backend.close();
        }
      }
    });
});
