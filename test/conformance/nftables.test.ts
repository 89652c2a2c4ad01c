import { probe } from '../kernel/probe.js';
import { ProxyProcess, transportNames } from '../kernel/proxy-process.js';
import { Testbed } from '../kernel/testbed.js';
import { readScenario, scenarioNames, type Scenario } from './scenarios.js';

const names = await scenarioNames();

/** Real packets through the real program's rules meet what they met with kube-proxy 1.36 in nftables mode. */
describe.each(transportNames)('nftables mode over %s', (transport) => {
  let testbed: Testbed;
  beforeAll(async () => {
    testbed = await Testbed.open();
  });
  afterAll(() => testbed.close());
  beforeEach(() => testbed.flushNode());

  async function follow(proxy: ProxyProcess, { steps }: Scenario): Promise<void> {
    for (const { number, objects, packets } of steps) {
      if (number > 1) await proxy.change(objects);
      const verdicts = await probe(testbed, objects);
      expect({ step: number, ...verdicts.ipv4 }).toStrictEqual({ step: number, ...packets.ipv4 });
      expect({ step: number, ...verdicts.ipv6 }).toStrictEqual({ step: number, ...packets.ipv6 });
    }
  }

  it.each(names)('treats packets as kube-proxy does in %s', async (name) => {
    const scenario = await readScenario(name);
    const { config, steps } = scenario;
    const proxy = await ProxyProcess.start({
      host: testbed.node,
      transport,
      config,
      objects: steps[0]!.objects,
    });
    try {
      await follow(proxy, scenario);
      expect(await proxy.stop('SIGTERM')).toBe(0);
    } finally {
      await proxy.remove();
    }
  });
});
