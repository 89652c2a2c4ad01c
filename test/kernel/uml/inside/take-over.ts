import { IptablesDriver } from '../../../../src/adapters/iptables/iptables-driver.js';
import { ipvsBackend } from '../../../support/backends.js';
import { expect } from 'expect';
import { before, describe, it } from 'node:test';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { IpSetTool } from '../../../../src/adapters/ipset/ipset-tool.js';
import { cleanUpScripts } from '../../../../src/adapters/iptables/owned-chains.js';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../../../../src/adapters/iptables/iptables-watch.js';
import { IPVS_OWNED_CHAINS } from '../../../../src/adapters/ipvs/clean-up-ipvs.js';
import type { IpvsKernel } from '../../../../src/adapters/ipvs/ipvs-driver.js';
import type { Backend } from '../../../../src/application/ports/backend.js';
import { NetlinkServiceAddresses } from '../../../../src/adapters/ipvs/netlink-service-addresses.js';
import { NetlinkVirtualServers } from '../../../../src/adapters/ipvs/netlink-virtual-servers.js';
import { IP_FAMILIES, type IpFamily } from '../../../../src/domain/net/ip-family.js';
import { readScenario, scenarioNames } from '../../../support/recorded/scenarios.js';
import { recordedEntries, RECORDED_HOST } from '../../../support/recorded/cluster.js';
import { leaveRecorded } from './recorded-kernel.js';
import { isSampled } from './sampled-scenarios.js';
import { here, tool } from './tool.js';

function backendOf(family: IpFamily): Backend {
  const iptables = new IptablesTool({ variant: 'legacy' });
  const logger = new MemoryLogger();
  const host = () => Promise.resolve(RECORDED_HOST);
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

describe('taking over from kube-proxy in mode ipvs', async () => {
  before(() => tool('modprobe', '-a', 'ip_vs', 'ip_set', 'nf_conntrack_netlink', 'dummy'));

  for (const name of (await scenarioNames()).filter(isSampled))
    it(`writes nothing, and finds nothing to repair, in ${name}`, async () => {
      for (const step of (await readScenario(name, 'ipvs')).steps) {
        await leaveRecorded(here, step);
        for (const family of IP_FAMILIES) {
          const recorded = { scenario: name, step: step.number };
          const { entries, network } = recordedEntries(recorded, family, 'ipvs');
          const backend = backendOf(family);
          const started = await backend.start(entries, network);
          expect({ ...recorded, family, ...started }).toMatchObject({ family, written: 0, failed: [] });
          const verified = await backend.verify('full');
          expect({ ...recorded, family, ...verified }).toMatchObject({ written: 0, failed: [] });
          await backend.close();
        }
      }
    });

  it('tells what was damaged, in the words of each tool, until it is repaired', async () => {
    const recorded = { scenario: 'clusterip-basic', step: 1 };
    const [step] = (await readScenario(recorded.scenario, 'ipvs')).steps;
    await leaveRecorded(here, step!);
    const { entries, network } = recordedEntries(recorded, 'IPv4', 'ipvs');
    const backend = backendOf('IPv4');
    try {
      await backend.start(entries, network);
      expect(await backend.differences!()).toEqual([]);
      await tool('ipvsadm', '-d', '-t', '172.30.10.1:80', '-r', '10.244.1.5:8080');
      await tool('ipset', 'del', 'KUBE-IPVS-IPS', '172.30.10.1');
      await tool('ip', 'address', 'del', '172.30.10.9/32', 'dev', 'kube-ipvs0');
      await tool('iptables-legacy', '-w', '5', '-t', 'filter', '-I', 'KUBE-FORWARD', '-j', 'ACCEPT');
      const told = (await backend.differences!())!.map(({ sign, text }) => `${sign} ${text}`);
      expect(told.sort()).toEqual([
        '+ ip address add 172.30.10.9/32 dev kube-ipvs0',
        '+ ipset add KUBE-IPVS-IPS 172.30.10.1',
        '+ ipvsadm -a -t 172.30.10.1:80 -r 10.244.1.5:8080 -m -w 1',
        '- -t filter -A KUBE-FORWARD -j ACCEPT',
      ]);
      await backend.verify('full');
      expect(await backend.differences!()).toEqual([]);
    } finally {
      await backend.close();
    }
  });
});
