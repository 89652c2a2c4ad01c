import { readScenario } from '../support/recorded/scenarios.js';
import { probe } from '../support/testbed/probe.js';
import { Testbed } from '../support/testbed/testbed.js';

/** One for each kind of packet's fate. That the probe finds what was recorded of the others, test/conformance shows. */
const names = [
  'dual-stack',
  'external-ips',
  'loadbalancer-source-ranges',
  'no-endpoints',
  'nodeport-local-policy-no-local',
  'session-affinity',
];

/** kube-proxy's own tables must get kube-proxy's own verdicts: if not, it is the probe that errs. */
describe('the probe', () => {
  let testbed: Testbed;
  beforeAll(async () => {
    testbed = await Testbed.open();
  });
  beforeEach(() => testbed.flushNode());
  afterAll(() => testbed.close());

  const load = (tables: readonly string[]): Promise<string> =>
    testbed.node.run(['nft', '-f', '-'], tables.join('\n'));

  it.each(names)('finds what was recorded of kube-proxy in %s', async (name) => {
    const { steps } = await readScenario(name);
    for (const step of steps) {
      await testbed.flushNode();
      await load(step.tables);
      const verdicts = await probe(testbed, step.objects);
      expect(verdicts.ipv4).toStrictEqual(step.packets.ipv4);
      expect(verdicts.ipv6).toStrictEqual(step.packets.ipv6 ?? {});
    }
  });

  it('sees a difference where there is one', async () => {
    const { steps } = await readScenario('churn');
    await load(steps[0]!.tables);
    const verdicts = await probe(testbed, steps[1]!.objects);
    const differing = Object.entries(steps[1]!.packets.ipv4).filter(
      ([key, verdict]) => JSON.stringify(verdicts.ipv4[key]) !== JSON.stringify(verdict),
    );
    expect(differing.length).toBeGreaterThan(10);
  });

  it('finds no endpoint on a node without rules', async () => {
    const { steps } = await readScenario('dual-stack');
    const { ipv4, ipv6 } = await probe(testbed, steps[0]!.objects);
    const found = [...Object.values(ipv4), ...Object.values(ipv6)].filter(
      (verdict) => typeof verdict !== 'string',
    );
    expect(found).toEqual([]);
  });
});
