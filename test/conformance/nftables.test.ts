import { nightly } from '../support/nightly.js';
import { probe } from '../support/testbed/probe.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { ProxyRuns } from '../support/program/proxy-runs.js';
import { TraceCommand } from '../support/program/trace-command.js';
import { isTraced, met, traced } from '../support/program/traced-node.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';
import { byConfiguration, type Step } from '../support/recorded/scenarios.js';

const recorded = await byConfiguration('nftables');
/** Those in which the cluster changes while the proxy runs. */
const changing = recorded.filter(({ steps }) => steps.length > 1);
/** By day every other one, and those that change: the hermetic tests send the packets of all through the rules of all. */
const scenarios = recorded
  .filter((scenario, place) => nightly || place % 2 === 0 || changing.includes(scenario))
  .map((scenario, place) => ({ ...scenario, isAsked: isTraced(place) }));

/** What the proxy says it failed at: a service it had to set aside is better read here than guessed from packets. */
const errorsOf = ({ log }: ProxyProcess): string[] =>
  log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));

/** Real packets through the real program's rules meet what they met with kube-proxy 1.36 in nftables mode. */
describe('nftables mode', () => {
  let testbed: Testbed;
  let proxies: ProxyRuns;
  let trace: TraceCommand;
  beforeAll(async () => {
    testbed = await Testbed.open();
    proxies = new ProxyRuns({ host: testbed.node }, () => testbed.flushNode());
    // What is traced through rules as they should be is compared with the recordings in the hermetic tests.
    trace = await TraceCommand.start(testbed.node, ['--kernel']);
  });
  afterAll(async () => {
    await trace?.stop();
    try {
      await proxies?.end();
    } finally {
      await testbed.close();
    }
  });

  async function expectRecordedPackets(step: Step, isAsked: boolean): Promise<void> {
    const { number, objects, packets } = step;
    const { ipv4, ipv6 } = await probe(testbed, objects);
    expect({ step: number, ...ipv4 }).toStrictEqual({ step: number, ...packets.ipv4 });
    expect({ step: number, ...ipv6 }).toStrictEqual({ step: number, ...packets.ipv6 });
    if (isAsked) expect(await traced(trace, step)).toStrictEqual(met(step));
  }

  async function tables(): Promise<object> {
    const [ip, ip6] = await Promise.all([readTable(testbed.node, 'ip'), readTable(testbed.node, 'ip6')]);
    return { ip: contentsOf(ip), ip6: contentsOf(ip6) };
  }

  const start = (config: string, { objects }: Step): Promise<ProxyProcess> =>
    ProxyProcess.start({ host: testbed.node, config, objects });

  it.each(scenarios)('treats packets as kube-proxy does in $name', async ({ config, steps, isAsked }) => {
    for (const step of steps) {
      const proxy = await proxies.program(config, step.objects);
      expect(errorsOf(proxy)).toEqual([]);
      await expectRecordedPackets(step, isAsked);
    }
  });

  it.each(changing)('leaves what a fresh start leaves at the end of $name', async ({ config, steps }) => {
    await proxies.end();
    await testbed.flushNode();
    const fresh = await start(config, steps.at(-1)!);
    let expected: Awaited<ReturnType<typeof tables>>;
    try {
      expected = await tables();
    } finally {
      await fresh.remove();
    }
    for (const step of steps) await proxies.program(config, step.objects);
    // Chains that nothing needs any more are emptied at once, and deleted in a quiet moment.
    await until('the tables are those of a fresh start', async () => {
      expect(await tables()).toEqual(expected);
      return true;
    });
  });
});
