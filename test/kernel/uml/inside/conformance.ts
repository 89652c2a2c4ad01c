import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { nightly } from '../../../support/nightly.js';
import { byConfiguration, type Step } from '../../../support/recorded/scenarios.js';
import { probe } from '../../../support/testbed/probe.js';
import { ProxyRuns } from '../../../support/program/proxy-runs.js';
import { TraceCommand } from '../../../support/program/trace-command.js';
import { met, traced } from '../../../support/program/traced-node.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { comparable, emptyNode, listNode, recordedListings } from './recorded-kernel.js';
import { isSampled } from './sampled-scenarios.js';
import { tool } from './tool.js';

const scenarios = (await byConfiguration('ipvs')).filter(({ name }) => isSampled(name));

/**
 * Those over which `trace --kernel` is asked as well, at night: queries are slow here, and the hermetic tests ask it over all, of compiled
 * rules and of what was recorded of the kernel.
 */
const TRACED = nightly ? ['ipv6-only', 'loadbalancer-source-ranges'] : [];
const TRACED_CLIENTS = ['pod', 'node', 'ext'];

/** The step with the packets of some clients alone. */
function fromClients({ packets, ...step }: Step, clients: readonly string[]): Step {
  const some = Object.entries(packets).map(([family, verdicts]) => [
    family,
    Object.fromEntries(Object.entries(verdicts).filter(([key]) => clients.includes(key.split(' from ')[1]!))),
  ]);
  return { ...step, packets: Object.fromEntries(some) };
}

/** Real virtual servers, sets, rules and packets of the real program equal those of kube-proxy 1.36 in mode ipvs. */
describe('mode ipvs', () => {
  let testbed: Testbed;
  let proxies: ProxyRuns;
  let trace: TraceCommand | undefined;
  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink');
    testbed = await Testbed.open();
    const options = { host: testbed.node, mode: 'ipvs', slow: true } as const;
    proxies = new ProxyRuns(options, () => emptyNode(testbed.node));
    if (TRACED.length > 0) trace = await TraceCommand.start(testbed.node, ['--kernel']);
  });
  after(async () => {
    await trace?.stop();
    try {
      await proxies.end();
    } finally {
      await testbed.close();
    }
  });

  async function check(step: Step, isTraced: boolean): Promise<void> {
    const present = comparable(await listNode(testbed.node));
    expect({ step: step.number, ...present }).toEqual({
      step: step.number,
      ...comparable(recordedListings(step)),
    });
    const verdicts = await probe(testbed, step.objects);
    expect({ step: step.number, ...verdicts }).toEqual({ step: step.number, ipv6: {}, ...step.packets });
    if (!isTraced) return;
    const asked = fromClients(step, TRACED_CLIENTS);
    expect(await traced(trace!, asked)).toEqual(met(asked));
  }

  for (const { name, config, steps } of scenarios)
    it(`leaves what kube-proxy leaves, and treats packets as it does, in ${name}`, async () => {
      for (const step of steps) {
        await proxies.program(config, step.objects);
        await check(step, TRACED.includes(name));
      }
    });
});
