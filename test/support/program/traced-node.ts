import type { TraceAnswer } from '../../../src/application/trace/answer.js';
import { destinationText, sourceText } from '../../../src/domain/trace/query.js';
import type { Step } from '../recorded/scenarios.js';
import { queryOf, verdictOf } from '../recorded/traced-scenarios.js';
import type { Host } from '../testbed/host.js';
import { planOf } from '../testbed/probe-plan.js';
import type { Verdicts } from '../testbed/probe.js';
import { builtProxy } from './built-proxy.js';

/** Runs `kubeproxy trace` on a node, where it asks the running proxy, with a query a line. */
export async function answers(
  node: Host,
  args: readonly string[],
  queries: readonly object[],
): Promise<TraceAnswer[]> {
  const input = queries.map((query) => `${JSON.stringify(query)}\n`).join('');
  const command = [process.execPath, await builtProxy(), 'trace', '--queries', '-', ...args];
  const output = await node.run(command, input);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceAnswer);
}

/** What the command says about everything that was probed. */
export async function traced(
  node: Host,
  { objects, packets }: Pick<Step, 'objects' | 'packets'>,
  args: readonly string[] = [],
): Promise<Verdicts> {
  const probes = (['ipv4', 'ipv6'] as const).flatMap((family) => {
    const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
    return Object.keys(packets[family] ?? {}).map((key) => {
      const [label, client] = key.split(' from ') as [string, string];
      return { key: `${family} ${key}`, query: queryOf(targets.get(label)!, client, family) };
    });
  });
  const asked = probes.map(({ query }) => ({ from: sourceText(query.from), to: destinationText(query) }));
  const answered = await answers(node, args, asked);
  return Object.fromEntries(probes.map(({ key }, place) => [key, verdictOf(answered[place]!)]));
}

/** What the packets met, under the same keys. */
export function met({ packets }: Pick<Step, 'packets'>): Verdicts {
  return Object.fromEntries(
    (['ipv4', 'ipv6'] as const).flatMap((family) =>
      Object.entries(packets[family] ?? {}).map(([key, verdict]) => [`${family} ${key}`, verdict]),
    ),
  );
}
