import { NftablesTracer } from '../../../../src/diagnostics/adapters/rules/nftables-rules.js';
import { readScenario, scenarioNames } from '../../../support/recorded/scenarios.js';
import {
  queryOf,
  tracePackets,
  verdictOf,
  type Tracing,
} from '../../../support/recorded/traced-scenarios.js';
import { planOf } from '../../../support/testbed/probe-plan.js';
import type { Verdict } from '../../../support/testbed/probe.js';
import { settingsOf } from '../../../support/recorded/walk-testbed.js';

const tracer = new NftablesTracer(() => Promise.reject(new Error('there is no kernel')));

/**
 * What another machine cannot know: from which address the node sends, and that the pod of the test bed is not behind the bridge
 * that the configuration names.
 */
function comparable(verdict: Verdict, key: string, scenario: string, tracing: Tracing): unknown {
  if (tracing === 'node') return verdict;
  if (scenario === 'detect-local-bridge' && key.endsWith(' from pod')) return 'depends on the bridge';
  if (typeof verdict === 'string' || !key.endsWith(' from node')) return verdict;
  return { ...verdict, masq: 'depends on the routes' };
}

describe.each(await scenarioNames())('trace, with the objects of %s', (name) => {
  it.each<Tracing>(['node', 'elsewhere'])('answers what packets met (%s)', async (tracing) => {
    const scenario = await readScenario(name);
    const settings = settingsOf(scenario.config);
    for (const { number, objects, packets } of scenario.steps) {
      const packetsOf = tracePackets(settings, objects, () => tracer, tracing);
      for (const family of ['ipv4', 'ipv6'] as const) {
        const expected = packets[family] ?? {};
        const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
        const met: Record<string, unknown> = {};
        const recorded: Record<string, unknown> = {};
        for (const [key, verdict] of Object.entries(expected)) {
          const [label, client] = key.split(' from ') as [string, string];
          const answer = await packetsOf.trace(queryOf(targets.get(label)!, client, family), 'desired');
          met[key] = comparable(verdictOf(answer), key, name, tracing);
          recorded[key] = comparable(verdict, key, name, tracing);
        }
        expect({ step: number, family, ...met }).toEqual({ step: number, family, ...recorded });
      }
    }
  });
});
