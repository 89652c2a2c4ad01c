import { expect } from 'expect';
import { before, describe, it } from 'node:test';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { readScenario, scenarioNames } from '../../../support/recorded/scenarios.js';
import { recordedEntries, RECORDED_HOST } from '../../../support/recorded/cluster.js';
import { openIpvs } from './open-ipvs.js';
import { leaveRecorded } from './recorded-kernel.js';
import { isSampled } from './sampled-scenarios.js';
import { here, tool } from './tool.js';

describe('taking over from kube-proxy in mode ipvs', async () => {
  before(() => tool('modprobe', '-a', 'ip_vs', 'ip_set', 'nf_conntrack_netlink', 'dummy'));

  for (const name of (await scenarioNames()).filter(isSampled))
    it(`writes nothing, and finds nothing to repair, in ${name}`, async () => {
      for (const step of (await readScenario(name, 'ipvs')).steps) {
        await leaveRecorded(here, step);
        for (const family of IP_FAMILIES) {
          const recorded = { scenario: name, step: step.number };
          const { entries, network } = recordedEntries(recorded, family, 'ipvs');
          const backend = openIpvs(family, RECORDED_HOST);
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
    const backend = openIpvs('IPv4', RECORDED_HOST);
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
