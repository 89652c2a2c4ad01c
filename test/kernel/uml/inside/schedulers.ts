import { expect } from 'expect';
import { readdirSync } from 'node:fs';
import { release } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { ProxyProcess } from '../../../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../../../support/testbed/cluster-objects.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { askTimes, Backend } from '../../../support/testbed/traffic.js';
import { PATIENT } from './ipvs-node.js';
import { emptyNode } from './recorded-kernel.js';
import { linesOf, tool } from './tool.js';

const MODULES = `/lib/modules/${release()}/kernel/net/netfilter/ipvs`;
/** Modules that are no schedulers. */
const OTHERS = ['ftp', 'pe_sip'];
const web = { ...PATIENT, what: 'http', dst: '172.30.20.11', port: 80 } as const;

/** The schedulers that this kernel has as modules. */
function schedulers(): readonly string[] {
  const names = readdirSync(MODULES).flatMap((file) => /^ip_vs_(\w+)\.ko/.exec(file)?.[1] ?? []);
  return names.filter((name) => !OTHERS.includes(name)).sort();
}

describe('each IPVS scheduler of the kernel', () => {
  let testbed: Testbed;
  let endpoints: readonly string[];
  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink', 'ip_vs');
    testbed = await Testbed.open();
    const backends = [
      await Backend.start(testbed, 'b1', '10.244.1.11'),
      await Backend.start(testbed, 'b2', '10.244.1.12'),
    ];
    endpoints = backends.map(({ address }) => address);
  });
  after(() => testbed.close());

  for (const scheduler of schedulers())
    it(`is used for every virtual server, and answers: ${scheduler}`, async () => {
      await emptyNode(testbed.node);
      const proxy = await ProxyProcess.start({
        host: testbed.node,
        mode: 'ipvs',
        slow: true,
        config: `${testConfig}\nipvs: { scheduler: ${scheduler} }\n`,
        objects: clusterObjects([
          {
            name: 'web',
            clusterIP: web.dst,
            ports: [{ name: 'http', protocol: 'TCP', port: web.port, targetPort: 8080 }],
            endpoints,
          },
        ]),
      });
      try {
        const servers = linesOf(await testbed.node.run(['ipvsadm', '-S', '-n']));
        const used = servers.flatMap((line) => /^-A .* -s (\S+)/.exec(line)?.[1] ?? []);
        expect(new Set(used)).toEqual(new Set([scheduler]));
        for (const client of [testbed.pod, testbed.node])
          for (const name of await askTimes(4, client, web)) expect(['b1', 'b2']).toContain(name);
      } finally {
        await proxy.remove();
      }
    });
});
