import { parseSave } from '../support/iptables/parse-save.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { HINT_CHAIN, iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { probe } from '../support/testbed/probe.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { met, traced } from '../support/program/traced-node.js';
import { Testbed } from '../support/testbed/testbed.js';
import { comparableTables } from '../support/recorded/comparable-tables.js';
import { readScenario, scenarioNames, type Step } from '../support/recorded/scenarios.js';

const names = await scenarioNames();
const families: readonly IpFamily[] = ['IPv4', 'IPv6'];
/** What the program says of itself at its start. */
function startOf(log: string): object | undefined {
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as { msg?: string }).find(({ msg }) => msg === 'starting');
}

/** Real rules and real packets of the real program equal those of kube-proxy 1.36 in iptables mode. */
describe.each(iptablesVariants)('iptables mode over iptables-%s', (variant) => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  beforeAll(async () => {
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, variant);
  });
  afterAll(() => testbed.close());
  beforeEach(async () => {
    await testbed.flushNode();
    await iptables.reset();
  });

  async function check(step: Step): Promise<void> {
    const { number, objects, packets, tables } = step;
    for (const [index, family] of families.entries()) {
      const { [`mangle ${HINT_CHAIN}`]: _, ...present } = comparableTables(await iptables.saved(family));
      expect({ step: number, family, ...present }).toStrictEqual({
        step: number,
        family,
        ...comparableTables(parseSave(tables[index]!, family)),
      });
    }
    const verdicts = await probe(testbed, objects);
    expect({ step: number, ...verdicts.ipv4 }).toStrictEqual({ step: number, ...packets.ipv4 });
    expect({ step: number, ...verdicts.ipv6 }).toStrictEqual({ step: number, ...packets.ipv6 });
    // Which tools there are makes no difference to the rules as they should be.
    const rules = variant === 'legacy' ? [] : ['--kernel'];
    expect(await traced(testbed.node, step, rules)).toStrictEqual(met(step));
  }

  it.each(names)('writes the rules of kube-proxy, and treats packets as they do, in %s', async (name) => {
    const { config, steps } = await readScenario(name, 'iptables');
    const host = testbed.node;
    const proxy = await ProxyProcess.start({
      host,
      mode: 'iptables',
      transport: 'netlink',
      config,
      objects: steps[0]!.objects,
    });
    try {
      for (const step of steps) {
        if (step.number > 1) await proxy.change(step.objects);
        await check(step);
      }
      expect(startOf(proxy.log)).toMatchObject({ variant, because: `chain ${HINT_CHAIN} exists` });
      expect(await proxy.stop('SIGTERM')).toBe(0);
    } finally {
      await proxy.remove();
    }
  });
});
