import { parseSave } from '../support/iptables/parse-save.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { nightly } from '../support/nightly.js';
import { HINT_CHAIN, iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import { probe } from '../support/testbed/probe.js';
import { ProxyRuns } from '../support/program/proxy-runs.js';
import { TraceCommand } from '../support/program/trace-command.js';
import { isTraced, met, traced } from '../support/program/traced-node.js';
import { Testbed } from '../support/testbed/testbed.js';
import { comparableTables } from '../support/recorded/comparable-tables.js';
import { areNamed, byConfiguration, type Step } from '../support/recorded/scenarios.js';

const scenarios = await byConfiguration('iptables');
const families: readonly IpFamily[] = ['IPv4', 'IPv6'];
/** What the program says of itself at its start. */
function startOf(log: string): object | undefined {
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as { msg?: string }).find(({ msg }) => msg === 'starting');
}

/**
 * Each variant of iptables has every other scenario of a configuration, by day every fourth: what the program gives to either is the same, and
 * the hermetic tests compare the rules of all and walk their packets.
 */
const halves = iptablesVariants.map(
  (variant, half) =>
    [
      variant,
      scenarios.filter((_, place) => areNamed || place % (nightly ? iptablesVariants.length : 4) === half),
    ] as const,
);

/** Real rules and real packets of the real program equal those of kube-proxy 1.36 in iptables mode. */
describe.each(halves)('iptables mode over iptables-%s', (variant, its) => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  let proxies: ProxyRuns;
  let trace: TraceCommand;
  beforeAll(async () => {
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, variant);
    proxies = new ProxyRuns({ host: testbed.node, mode: 'iptables' }, async () => {
      await testbed.flushNode();
      await iptables.reset();
    });
    // Which tools there are makes no difference to the rules as they should be.
    trace = await TraceCommand.start(testbed.node, variant === 'legacy' ? [] : ['--kernel']);
  });
  afterAll(async () => {
    await trace?.stop();
    try {
      await proxies?.end();
    } finally {
      await testbed.close();
    }
  });

  async function check(step: Step, isAsked: boolean): Promise<void> {
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
    if (isAsked) expect(await traced(trace, step)).toStrictEqual(met(step));
  }

  it.each(its.map((scenario, place) => ({ ...scenario, isAsked: isTraced(place) })))(
    'writes the rules of kube-proxy, and treats packets as they do, in $name',
    async ({ config, steps, isAsked }) => {
      for (const step of steps) {
        const { log } = await proxies.program(config, step.objects);
        expect(startOf(log)).toMatchObject({ variant, because: `chain ${HINT_CHAIN} exists` });
        await check(step, isAsked);
      }
    },
  );
});
