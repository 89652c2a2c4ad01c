/**
 * The recorded scenarios of mode ipvs, against the real program. One guest may run every n-th of them:
 * `conformance.mjs 1/2` and `conformance.mjs 2/2` are all.
 */
import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { readScenario, scenarioNames, type Step } from '../../../support/recorded/scenarios.js';
import { probe } from '../../../support/testbed/probe.js';
import { ProxyProcess } from '../../../support/program/proxy-process.js';
import { met, traced } from '../../../support/program/traced-node.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { comparable, emptyNode, listNode, recordedListings } from './recorded-kernel.js';
import { tool } from './tool.js';

const [part = 1, parts = 1] = (process.argv[2] ?? '').split('/').filter(Boolean).map(Number);
const all = await Promise.all((await scenarioNames()).map((name) => readScenario(name, 'ipvs')));
const scenarios = all
  .sort((one, other) => (one.config < other.config ? -1 : Number(one.config > other.config)))
  .filter((_, position) => position % parts === part - 1);

/**
 * Those over which `trace` is asked as well, and of which rules: queries are slow here, and the hermetic
 * tests ask it over all, of compiled rules and of what was recorded of the kernel.
 */
const TRACED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'clusterip-basic': [[], ['--kernel']],
  'loadbalancer-source-ranges': [['--kernel']],
  'dual-stack': [['--kernel']],
  'session-affinity': [['--kernel']],
};
const TRACED_CLIENTS = ['pod', 'node', 'ext'];

/** The step with the packets of some clients alone. */
function fromClients({ packets, ...step }: Step, clients: readonly string[]): Step {
  const some = Object.entries(packets).map(([family, verdicts]) => [
    family,
    Object.fromEntries(Object.entries(verdicts).filter(([key]) => clients.includes(key.split(' from ')[1]!))),
  ]);
  return { ...step, packets: Object.fromEntries(some) };
}

/**
 * Real virtual servers, sets, rules and packets of the real program equal those of kube-proxy 1.36 in mode ipvs. Scenarios
 * of the same configuration follow each other in one run of the program: each must be free of what the others left.
 */
describe('mode ipvs', () => {
  let testbed: Testbed;
  let proxy: ProxyProcess | undefined;
  let configured = '';
  before(async () => {
    await tool('modprobe', '-a', 'nf_conntrack_netlink');
    testbed = await Testbed.open();
  });
  after(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  /** Has a proxy of that configuration program the objects. */
  async function program(config: string, objects: string): Promise<void> {
    if (proxy && config === configured) return proxy.change(objects);
    if (proxy) expect(await proxy.stop('SIGTERM')).toBe(0);
    await proxy?.remove();
    proxy = undefined;
    await emptyNode(testbed.node);
    const options = { host: testbed.node, mode: 'ipvs', transport: 'netlink', slow: true } as const;
    proxy = await ProxyProcess.start({ ...options, config, objects });
    configured = config;
  }

  async function check(step: Step, traces: readonly (readonly string[])[]): Promise<void> {
    const present = comparable(await listNode(testbed.node));
    expect({ step: step.number, ...present }).toEqual({
      step: step.number,
      ...comparable(recordedListings(step)),
    });
    const verdicts = await probe(testbed, step.objects);
    expect({ step: step.number, ...verdicts }).toEqual({ step: step.number, ipv6: {}, ...step.packets });
    const asked = fromClients(step, TRACED_CLIENTS);
    for (const rules of traces) expect(await traced(testbed.node, asked, rules)).toEqual(met(asked));
  }

  for (const { name, config, steps } of scenarios)
    it(`leaves what kube-proxy leaves, and treats packets as it does, in ${name}`, async () => {
      for (const step of steps) {
        await program(config, step.objects);
        await check(step, TRACED[name] ?? []);
      }
    });
});
