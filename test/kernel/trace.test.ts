import type { TraceAnswer } from '../../src/application/trace/answer.js';
import { destinationText, sourceText } from '../../src/domain/trace/query.js';
import { builtProxy } from '../support/program/built-proxy.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { readScenario, scenarioNames, type Step } from '../support/recorded/scenarios.js';
import { queryOf, verdictOf } from '../support/recorded/traced-scenarios.js';
import { planOf } from '../support/testbed/probe-plan.js';
import { Testbed } from '../support/testbed/testbed.js';

const names = await scenarioNames();
let testbed: Testbed;
beforeAll(async () => {
  testbed = await Testbed.open();
});
afterAll(() => testbed.close());
beforeEach(() => testbed.flushNode());

/** Runs the command on the node, where it asks the running proxy. */
async function trace(args: readonly string[], input = ''): Promise<string> {
  return testbed.node.run([process.execPath, await builtProxy(), 'trace', ...args], input);
}

async function answers(args: readonly string[], queries: readonly object[]): Promise<TraceAnswer[]> {
  const input = queries.map((query) => `${JSON.stringify(query)}\n`).join('');
  const output = await trace(['--queries', '-', ...args], input);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceAnswer);
}

/** What the command says about everything that was probed. */
async function traced({ objects, packets }: Step, args: readonly string[]): Promise<object> {
  const probes = (['ipv4', 'ipv6'] as const).flatMap((family) => {
    const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
    return Object.keys(packets[family] ?? {}).map((key) => {
      const [label, client] = key.split(' from ') as [string, string];
      return { key: `${family} ${key}`, query: queryOf(targets.get(label)!, client, family) };
    });
  });
  const asked = probes.map(({ query }) => ({ from: sourceText(query.from), to: destinationText(query) }));
  const answered = await answers(args, asked);
  return Object.fromEntries(probes.map(({ key }, place) => [key, verdictOf(answered[place]!)]));
}

function recorded({ packets }: Step): object {
  return Object.fromEntries(
    (['ipv4', 'ipv6'] as const).flatMap((family) =>
      Object.entries(packets[family] ?? {}).map(([key, verdict]) => [`${family} ${key}`, verdict]),
    ),
  );
}

describe('kubeproxy trace, asking a running proxy', () => {
  it.each(names)('answers what packets met in %s', async (name) => {
    const { config, steps } = await readScenario(name);
    const [step] = steps as [Step];
    const { objects } = step;
    const proxy = await ProxyProcess.start({ host: testbed.node, transport: 'netlink', config, objects });
    try {
      expect(await traced(step, [])).toEqual(recorded(step));
      expect(await traced(step, ['--kernel'])).toEqual(recorded(step));
    } finally {
      await proxy.remove();
    }
  });
});
