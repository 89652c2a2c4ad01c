import { IptablesTracer } from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
import { IpvsTracer } from '../../../../src/diagnostics/adapters/rules/ipvs-rules.js';
import type { NodeSettings } from '../../../../src/application/node/node-contexts.js';
import type { Tracer } from '../../../../src/diagnostics/application/ports/tracer.js';
import { parseCommandLine } from '../../../../src/bootstrap/configuration/command-line.js';
import { withMode } from '../../../../src/bootstrap/configuration/proxy-configuration.js';
import { nodeSettings } from '../../../../src/bootstrap/this-node.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { RECORDED_HOST } from '../../../support/recorded/cluster.js';
import { readScenario, scenarioNames } from '../../../support/recorded/scenarios.js';
import { queryOf, tracePackets, verdictOf } from '../../../support/recorded/traced-scenarios.js';
import { planOf } from '../../../support/testbed/probe-plan.js';
import type { Verdict } from '../../../support/testbed/probe.js';

const unread = (): never => {
  throw new Error('the kernel is not read here');
};
const tracers: Record<'iptables' | 'ipvs', (family: IpFamily) => Tracer> = {
  iptables: () => new IptablesTracer(() => Promise.resolve(RECORDED_HOST), unread),
  ipvs: (family) => new IpvsTracer(family, 'rr', unread),
};
const families = ['ipv4', 'ipv6'] as const;

function settingsOf(configuration: string, mode: 'iptables' | 'ipvs'): NodeSettings {
  const line = parseCommandLine(['--config', 'config.yaml'], {
    readFile: () => configuration,
    hostname: () => 'unused',
  });
  return nodeSettings({ ...line, configuration: withMode(line.configuration, mode) });
}

/** Without what only the machine itself can know: which address the node sends from, and whether a bridge is there. */
function knownElsewhere(scenario: string, key: string, verdict: Verdict): unknown {
  if (scenario === 'detect-local-bridge' && key.endsWith(' from pod')) return 'depends on the bridge';
  const dependsOnRoutes = typeof verdict !== 'string' && key.endsWith(' from node');
  return dependsOnRoutes ? { ...verdict, masq: 'depends on the routes' } : verdict;
}

const scenarios = await scenarioNames();

/** One after the other, but in `churn` both. */
function modesOf(scenario: string): readonly (keyof typeof tracers)[] {
  if (scenario === 'churn') return ['iptables', 'ipvs'];
  return [scenarios.indexOf(scenario) % 2 === 0 ? 'iptables' : 'ipvs'];
}

/**
 * `trace` by the compiled rules of modes iptables and ipvs answers what the recorded packets met, as far as another machine can
 * tell. What a walk through these rules meets on the node itself, `walk/recorded-packets.test.ts` shows for each mode.
 */
describe.each(scenarios)('in %s', (scenario) => {
  it.each(modesOf(scenario))('trace of mode %s tells the fate of every packet', async (mode) => {
    const { config, steps } = await readScenario(scenario, mode);
    const settings = settingsOf(config, mode);
    for (const { number, objects, packets } of steps) {
      const packetsOf = tracePackets(settings, objects, tracers[mode], 'elsewhere');
      for (const family of families) {
        const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
        const [told, met]: Record<string, unknown>[] = [{}, {}];
        for (const [key, verdict] of Object.entries(packets[family] ?? {})) {
          const [label, client] = key.split(' from ') as [string, string];
          const answer = await packetsOf.trace(queryOf(targets.get(label)!, client, family), 'desired');
          told![key] = knownElsewhere(scenario, key, verdictOf(answer));
          met![key] = knownElsewhere(scenario, key, verdict);
        }
        expect({ step: number, family, ...told }).toEqual({ step: number, family, ...met });
      }
    }
  });
});
