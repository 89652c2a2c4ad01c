import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { ProxyProcess } from '../../../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../../../support/testbed/cluster-objects.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { until } from '../../../support/until.js';
import { PATIENCE } from './ipvs-node.js';
import { tool } from './tool.js';

const config = stringify({ ...(parse(testConfig) as object), checkForwarding: true });

/** In other modes: `test/kernel/check-forwarding.test.ts`. */
describe('in IPVS mode a check of forwarding', () => {
  let testbed: Testbed;
  let proxy: ProxyProcess | undefined;

  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink', 'ip_vs');
    testbed = await Testbed.open();
    const objects = clusterObjects([]);
    proxy = await ProxyProcess.start({ host: testbed.node, mode: 'ipvs', slow: true, config, objects });
  });
  after(async () => {
    await proxy?.remove();
    await testbed?.close();
  });

  it('leads through virtual servers of both families', async () => {
    let metrics = '';
    const successful = (family: string) =>
      metrics.includes(`kube_proxy_ts_forwarding_check_successful{ip_family="${family}"} 1`);
    await until(
      'both families are checked',
      async () => {
        metrics = (await testbed.node.get('http://127.0.0.1:10249/metrics')).body;
        if (successful('IPv4') && successful('IPv6')) return true;
        throw new Error(proxy!.log);
      },
      PATIENCE,
    );
  });

  it('takes no loopback address from its device', async () => {
    const addresses = await testbed.node.run(['ip', '-o', 'addr', 'show', 'kube-ipvs0']);
    expect(addresses).not.toMatch(/ (127\.0\.0\.1|::1)\//);
  });
});
