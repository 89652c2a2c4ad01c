import { expect } from 'expect';
import { after, before, beforeEach, describe, it } from 'node:test';
import { readScenario, scenarioNames } from '../../../conformance/scenarios.js';
import { probe } from '../../probe.js';
import { Testbed } from '../../testbed.js';
import { emptyNode, leaveRecorded } from './recorded-kernel.js';
import { tool } from './tool.js';

/** kube-proxy's own virtual servers, sets and rules must get kube-proxy's own verdicts: if not, it is the probe that errs. */
describe('the probe in a guest', async () => {
  let testbed: Testbed;
  before(async () => {
    await tool('modprobe', '-a', 'ip_vs', 'ip_set', 'nf_conntrack', 'dummy');
    testbed = await Testbed.open();
  });
  beforeEach(() => emptyNode(testbed.node));
  after(() => testbed.close());

  for (const name of await scenarioNames())
    it(`finds what was recorded of kube-proxy in mode ipvs in ${name}`, async () => {
      const { steps } = await readScenario(name, 'ipvs');
      for (const step of steps) {
        await emptyNode(testbed.node);
        await leaveRecorded(testbed.node, step);
        const verdicts = await probe(testbed, step.objects);
        expect({ step: step.number, ...verdicts.ipv4 }).toStrictEqual({
          step: step.number,
          ...step.packets.ipv4,
        });
        expect({ step: step.number, ...verdicts.ipv6 }).toStrictEqual({
          step: step.number,
          ...step.packets.ipv6,
        });
      }
    });
});
