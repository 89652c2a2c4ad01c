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
import { HINT_CHAIN } from '../../iptables-node.js';
import { probe } from '../../probe.js';
import { ProxyProcess } from '../../proxy-process.js';
import { Testbed } from '../../testbed.js';
import { emptyNode, listNode, recordedListings, type Listings } from './recorded-kernel.js';
import { linesOf, tool } from './tool.js';

const [part = 1, parts = 1] = (process.argv[2] ?? '').split('/').filter(Boolean).map(Number);
const names = (await scenarioNames()).filter((_, position) => position % parts === part - 1);

/** What of the listings means something. Real servers that only drain depend on which packets came before. */
function comparable({ rules, servers, sets, device }: Listings): object {
  const tables = IP_FAMILIES.map((family) => {
    const { [`mangle ${HINT_CHAIN}`]: _, ...rest } = comparableTables(parseSave(rules[family], family));
    return rest;
  });
  return {
    tables,
    servers: linesOf(servers).filter((line) => !line.endsWith(' -w 0')),
    // The kernel draws these by lot.
    sets: linesOf(sets.replace(/ bucketsize \d+ initval \w+/g, '')),
    device: device.trim().split(/\s+/).sort(),
  };
}

/** Real virtual servers, sets, rules and packets of the real program equal those of kube-proxy 1.36 in mode ipvs. */
describe('mode ipvs', () => {
  let testbed: Testbed;
  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink');
    testbed = await Testbed.open();
  });
  beforeEach(() => emptyNode(testbed.node));
  after(() => testbed.close());

  async function check(step: Step): Promise<void> {
    const present = comparable(await listNode(testbed.node));
    expect({ step: step.number, ...present }).toEqual({
      step: step.number,
      ...comparable(recordedListings(step)),
    });
    const verdicts = await probe(testbed, step.objects);
    expect({ step: step.number, ...verdicts }).toEqual({ step: step.number, ipv6: {}, ...step.packets });
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
