import { isDeepStrictEqual } from 'node:util';
import type { NodeSettings } from '../../../../src/application/node/node-contexts.js';
import { parseCommandLine } from '../../../../src/bootstrap/configuration/command-line.js';
import { nodeSettings } from '../../../../src/bootstrap/this-node.js';
import { IptablesTracer } from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
import { IpvsTracer } from '../../../../src/diagnostics/adapters/rules/ipvs-rules.js';
import { NftablesTracer } from '../../../../src/diagnostics/adapters/rules/nftables-rules.js';
import type { Tracer } from '../../../../src/diagnostics/application/ports/tracer.js';
import type { TraceAnswer } from '../../../../src/diagnostics/application/trace/answer.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { hostPort } from '../../../../src/domain/net/address.js';
import { configurationOf, manifestOf, storyOf } from '../../../fuzz/story.js';
import { place } from '../../../model/addresses.js';
import type { Mode } from '../../../model/objects.js';
import { TestbedModel } from '../../../model/testbed-model.js';
import { RECORDED_HOST } from '../../../support/recorded/cluster.js';
import { queryOf, tracePackets, verdictOf } from '../../../support/recorded/traced-scenarios.js';
import { planOf, type Target } from '../../../support/testbed/probe-plan.js';

const CLIENTS = { ipv4: ['pod', 'node', 'ext', 'ext10', 'ext203', 'farpod'], ipv6: ['pod', 'node', 'ext'] };
const STORIES = 15;

const unread = (): never => {
  throw new Error('the kernel is not read here');
};
const TRACERS: Readonly<Record<Exclude<Mode, 'userspace'>, (family: IpFamily) => Tracer>> = {
  nftables: () => new NftablesTracer(unread),
  iptables: () => new IptablesTracer(() => Promise.resolve(RECORDED_HOST), unread),
  ipvs: (family) => new IpvsTracer(family, 'rr', unread),
};

function settingsOf(configuration: string, mode: Mode): NodeSettings {
  const text = JSON.stringify({ ...JSON.parse(configuration), mode });
  return nodeSettings(
    parseCommandLine(['--config', 'config.yaml'], { readFile: () => text, hostname: () => 'unused' }),
  );
}

function problemOf(
  model: TestbedModel,
  target: Target,
  client: string,
  answer: TraceAnswer,
): string | undefined {
  const outcome = model.outcome(target, client);
  if (outcome.kind === 'endpoints' && outcome.hashesSource) {
    // The packet determines the endpoint.
    const places = outcome.draws.map(place);
    return answer.endpoints.every((one) => places.includes(hostPort(one.address, one.port)))
      ? undefined
      : `${JSON.stringify(answer.endpoints)} instead of one of ${places.join(', ')}`;
  }
  const expected = model.expected(target, client);
  const allowed = [
    ...expected,
    // A trace follows all endpoints that a client may stick to.
    ...(answer.sticky && expected.length > 1 ? [{ masq: 'mixed', sticky: true }] : []),
    ...(outcome.kind === 'untouched' ? [outcome.kind] : []),
  ];
  const met = verdictOf(answer);
  if (!allowed.some((one) => isDeepStrictEqual(one, met)))
    return `${JSON.stringify(met)} instead of ${JSON.stringify(allowed)}`;
  if (outcome.kind !== 'endpoints') return undefined;
  if (answer.sticky !== outcome.affinitySeconds > 0) return `sticky: ${answer.sticky}`;
  const shares = new Map(outcome.draws.map((draw) => [place(draw), draw.share]));
  const isEven = ({ address, port, probability }: TraceAnswer['endpoints'][number]): boolean =>
    Math.abs(probability - (shares.get(hostPort(address, port)) ?? 0)) < 0.002;
  return answer.endpoints.length === shares.size && answer.endpoints.every(isEven)
    ? undefined
    : `${JSON.stringify(answer.endpoints)} instead of ${JSON.stringify(outcome.draws)}`;
}

const seeds = Array.from({ length: STORIES }, (_, index) => index + 1);

/** The compiled rules and the walk through them, by random Services; the model shares nothing with either. */
describe.each(['nftables', 'iptables', 'ipvs'] as const)('in %s mode', (mode) => {
  it.each(seeds)('packets meet what the model allows, with the Services of seed %s', async (seed) => {
    const story = storyOf(seed, mode, [mode]);
    const [step] = story.steps;
    const objects = manifestOf(step!, 0);
    const model = new TestbedModel(objects, story.configuration);
    const packets = tracePackets(settingsOf(configurationOf(story), mode), objects, TRACERS[mode], 'node');
    const problems: string[] = [];
    for (const family of ['ipv4', 'ipv6'] as const)
      for (const target of planOf(objects, family))
        for (const client of CLIENTS[family]) {
          // Routers drop packets that come from elsewhere with such a destination.
          if (target.dst === '127.0.0.1' && client !== 'node') continue;
          const answer = await packets.trace(queryOf(target, client, family), 'desired');
          const problem = problemOf(model, { ...target, sticky: answer.sticky }, client, answer);
          if (problem) problems.push(`${target.label} from ${client}: ${problem}`);
        }
    expect(problems).toEqual([]);
  });
});
