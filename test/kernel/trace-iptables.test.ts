import { IptablesTool } from '../../src/adapters/iptables/iptables-tool.js';
import { IptablesTracer } from '../../src/diagnostics/adapters/rules/iptables-rules.js';
import type { Walk } from '../../src/diagnostics/domain/walk/desired-walk.js';
import { IP_FAMILIES, type IpFamily } from '../../src/domain/net/ip-family.js';
import { sampleOf } from '../support/nightly.js';
import { walkedFates } from '../support/recorded/packet-fates.js';
import { readScenario, type Scenario } from '../support/recorded/scenarios.js';
import { iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { probe } from '../support/testbed/probe.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';

/** Rules of another program, in the way of some packets of each kind. */
const FOREIGN = [
  '-t filter -N firewall',
  '-t filter -N refusal',
  '-t filter -A firewall -s 198.18.0.0/24 -p tcp -m multiport --dports 443,8080 -j DROP',
  '-t filter -A firewall ! -i vethpod1 -s 203.0.113.5 -m conntrack --ctstate NEW -g refusal',
  '-t filter -A refusal -p udp -j DROP',
  '-t filter -A refusal -j REJECT',
  '-t filter -I FORWARD -j firewall',
  '-t raw -I PREROUTING -s 192.168.7.7 -m addrtype ! --dst-type LOCAL -j DROP',
  '-t nat -I POSTROUTING -s 10.244.1.200 ! -d 10.244.2.0/24 -j MASQUERADE',
  '-t mangle -A POSTROUTING -s 10.9.9.9 -m mark ! --mark 0x1/0x1 -j DROP',
];

describe.each(sampleOf(iptablesVariants))('a walk through what iptables-%s saves', (variant) => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  let proxy: ProxyProcess;
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await readScenario('dual-stack', 'iptables');
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, variant);
    await iptables.reset();
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode: 'iptables',
      config: scenario.config,
      objects: scenario.steps[0]!.objects,
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed?.close();
  });

  async function actualWalk(family: IpFamily): Promise<Walk> {
    const tool = new IptablesTool({ variant, launcher: testbed.node.commandLine([]) });
    try {
      const tracer = new IptablesTracer(
        () => Promise.reject(new Error('not asked')),
        () => tool.save(family),
      );
      return await tracer.actual();
    } finally {
      tool.close();
    }
  }

  /** Packets of every client to every address meet in the kernel what they meet in the walk. */
  async function expectSameFates(): Promise<void> {
    const { objects } = scenario.steps[0]!;
    const met = await probe(testbed, objects);
    for (const family of IP_FAMILIES) {
      const expected = met[family === 'IPv4' ? 'ipv4' : 'ipv6'];
      expect(await walkedFates(objects, family, Object.keys(expected), await actualWalk(family))).toEqual(
        expected,
      );
    }
  }

  it('meets what real packets meet, also where rules of another program are in the way', async () => {
    await expectSameFates();
    for (const rule of FOREIGN) await iptables.run('IPv4', ...rule.split(' '));
    await expectSameFates();
    const walk = await actualWalk('IPv4');
    const endings = await walk.walk(
      {
        family: 'IPv4',
        inputInterface: 'ext0',
        source: '198.18.0.50',
        destination: '172.30.10.21',
        protocol: 'TCP',
        destinationPort: 80,
      },
      { localAddresses: new Set(['198.51.100.11', '198.18.0.1', '10.244.1.1']) },
    );
    for (const { verdict, steps } of endings) {
      expect(verdict).toBe('drop');
      expect(steps.at(-1)).toEqual({
        hook: 'forward',
        where: 'filter firewall',
        rule: '-A firewall -s 198.18.0.0/24 -p tcp -m multiport --dports 443,8080 -j DROP',
        effect: 'drops it',
        foreign: true,
      });
    }
  });
});
