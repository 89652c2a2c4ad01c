/**
 * The recorded scenarios of mode ipvs, against the real program. One guest may run every n-th of them:
 * `conformance.mjs 1/2` and `conformance.mjs 2/2` are all.
 */
import { expect } from 'expect';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parseSave } from '../../../../src/domain/iptables/parse-save.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { comparableTables } from '../../../conformance/comparable-tables.js';
import { readScenario, scenarioNames, type Step } from '../../../conformance/scenarios.js';
import { HINT_CHAIN, NodeIptables } from '../../iptables-node.js';
import { probe } from '../../probe.js';
import { ProxyProcess } from '../../proxy-process.js';
import { Testbed } from '../../testbed.js';
import { emptyNode } from './recorded-kernel.js';
import { linesOf, tool } from './tool.js';

const [part = 1, parts = 1] = (process.argv[2] ?? '').split('/').filter(Boolean).map(Number);
const names = (await scenarioNames()).filter((_, position) => position % parts === part - 1);

/** The virtual servers of a listing; real servers that only drain depend on which packets came before. */
const servers = (listing: string): readonly string[] =>
  linesOf(listing).filter((line) => !line.endsWith(' -w 0'));
/** The sets of a listing, without what the kernel draws by lot. */
const sets = (listing: string): readonly string[] =>
  linesOf(listing.replace(/ bucketsize \d+ initval \w+/g, ''));
/** The device of the services: its name, its state, its addresses. */
const device = (listing: string): readonly string[] => linesOf(listing.replaceAll(/\s+/g, '\n'));

/** Real virtual servers, sets, rules and packets of the real program equal those of kube-proxy 1.36 in mode ipvs. */
describe('mode ipvs', () => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink');
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, 'legacy');
  });
  beforeEach(async () => {
    await emptyNode(testbed.node);
    await iptables.reset();
  });
  after(() => testbed.close());

  async function check({ number, objects, packets, tables }: Step): Promise<void> {
    const { node } = testbed;
    const [ipv4, ipv6, recordedServers, recordedSets, recordedDevice] = tables;
    expect({
      step: number,
      servers: servers(await node.run(['ipvsadm', '-S', '-n'])),
      sets: sets(await node.run(['ipset', 'save'])),
      device: device(await node.run(['ip', '-br', 'addr', 'show', 'kube-ipvs0'])),
    }).toEqual({
      step: number,
      servers: servers(recordedServers!),
      sets: sets(recordedSets!),
      device: device(recordedDevice!),
    });
    for (const family of IP_FAMILIES) {
      const recorded = parseSave(family === 'IPv4' ? ipv4! : ipv6!, family);
      const { [`mangle ${HINT_CHAIN}`]: _, ...present } = comparableTables(await iptables.saved(family));
      expect({ step: number, family, ...present }).toEqual({
        step: number,
        family,
        ...comparableTables(recorded),
      });
    }
    const verdicts = await probe(testbed, objects);
    expect({ step: number, ...verdicts.ipv4 }).toEqual({ step: number, ...packets.ipv4 });
    expect({ step: number, ...verdicts.ipv6 }).toEqual({ step: number, ...packets.ipv6 });
  }

  for (const name of names)
    it(`leaves what kube-proxy leaves, and treats packets as it does, in ${name}`, async () => {
      const { config, steps } = await readScenario(name, 'ipvs');
      const host = testbed.node;
      const objects = steps[0]!.objects;
      const proxy = await ProxyProcess.start({
        ...{ host, mode: 'ipvs', transport: 'netlink', config, objects },
        slow: true,
      });
      try {
        for (const step of steps) {
          if (step.number > 1) await proxy.change(step.objects);
          await check(step);
        }
        expect(await proxy.stop('SIGTERM')).toBe(0);
      } finally {
        await proxy.remove();
      }
    });
});
