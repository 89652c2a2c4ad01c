import { probe } from '../support/testbed/probe.js';
import { ProxyProcess, transportNames, type TransportName } from '../support/program/proxy-process.js';
import { TraceCommand } from '../support/program/trace-command.js';
import { met, traced } from '../support/program/traced-node.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';
import { readScenario, scenarioNames, type Step } from '../support/recorded/scenarios.js';

const names = await scenarioNames();
const scenarios = await Promise.all(names.map((name) => readScenario(name)));
/** Those in which the cluster changes while the proxy runs. */
const changing = scenarios.filter(({ steps }) => steps.length > 1).map(({ name }) => name);
/** What each transport had written at the end of a scenario. */
const left: Record<TransportName, Map<string, object>> = { netlink: new Map(), cli: new Map() };

/** What the proxy says it failed at: a service it had to set aside is better read here than guessed from packets. */
const errorsOf = ({ log }: ProxyProcess): string[] =>
  log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));

/** Real packets through the real program's rules meet what they met with kube-proxy 1.36 in nftables mode. */
describe.each(transportNames)('nftables mode over %s', (transport) => {
  let testbed: Testbed;
  let trace: TraceCommand;
  beforeAll(async () => {
    testbed = await Testbed.open();
    // The kernel has the same rules over both.
    trace = await TraceCommand.start(testbed.node, transport === 'netlink' ? ['--kernel'] : []);
  });
  afterAll(async () => {
    await trace?.stop();
    await testbed.close();
  });
  beforeEach(() => testbed.flushNode());

  async function expectRecordedPackets(step: Step): Promise<void> {
    const { number, objects, packets } = step;
    const { ipv4, ipv6 } = await probe(testbed, objects);
    expect({ step: number, ...ipv4 }).toStrictEqual({ step: number, ...packets.ipv4 });
    expect({ step: number, ...ipv6 }).toStrictEqual({ step: number, ...packets.ipv6 });
    expect(await traced(trace, step)).toStrictEqual(met(step));
  }

  async function tables(): Promise<object> {
    const [ip, ip6] = await Promise.all([readTable(testbed.node, 'ip'), readTable(testbed.node, 'ip6')]);
    return { ip: contentsOf(ip), ip6: contentsOf(ip6) };
  }

  const start = (config: string, { objects }: Step): Promise<ProxyProcess> =>
    ProxyProcess.start({ host: testbed.node, transport, config, objects });

  it.each(names)('treats packets as kube-proxy does in %s', async (name) => {
    const { config, steps } = await readScenario(name);
    const [first, ...later] = steps as [Step, ...Step[]];
    const proxy = await start(config, first);
    try {
      expect(errorsOf(proxy)).toEqual([]);
      await expectRecordedPackets(first);
      for (const step of later) {
        await proxy.change(step.objects);
        expect(errorsOf(proxy)).toEqual([]);
        await expectRecordedPackets(step);
      }
      if (later.length === 0) left[transport].set(name, await tables());
      expect(await proxy.stop('SIGTERM')).toBe(0);
    } finally {
      await proxy.remove();
    }
  });

  it.each(changing)('leaves what a fresh start leaves at the end of %s', async (name) => {
    const { config, steps } = await readScenario(name);
    const [first, ...later] = steps as [Step, ...Step[]];
    const fresh = await start(config, steps.at(-1)!);
    const expected = await tables().finally(() => fresh.remove());
    await testbed.flushNode();
    const proxy = await start(config, first);
    try {
      for (const step of later) await proxy.change(step.objects);
      // Chains that nothing needs any more are emptied at once, and deleted in a quiet moment.
      await until('the tables are those of a fresh start', async () => {
        expect(await tables()).toEqual(expected);
        return true;
      });
      left[transport].set(name, await tables());
    } finally {
      await proxy.remove();
    }
  });
});

describe('both transports', () => {
  it.each(names)('leave the same tables in %s', (name) => {
    expect(left.cli.get(name)).toBeDefined();
    expect(left.cli.get(name)).toEqual(left.netlink.get(name));
  });
});
