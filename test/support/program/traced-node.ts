import { destinationText, sourceText } from '../../../src/diagnostics/domain/trace/query.js';
import type { Step } from '../recorded/scenarios.js';
import { queryOf, verdictOf } from '../recorded/traced-scenarios.js';
import { nightly } from '../nightly.js';
import { planOf } from '../testbed/probe-plan.js';
import type { Verdicts } from '../testbed/probe.js';
import type { TraceCommand } from './trace-command.js';

/**
 * Whether `trace --kernel` is asked over a recorded scenario, too: over every third, and all at night. Hermetic tests ask it over all,
 * of compiled rules and of what was recorded of the kernel.
 */
export function isTraced(place: number): boolean {
  return nightly || place % 3 === 0;
}

/** What the command says about everything that was probed. */
export async function traced(
  command: TraceCommand,
  { objects, packets }: Pick<Step, 'objects' | 'packets'>,
): Promise<Verdicts> {
  const probes = (['ipv4', 'ipv6'] as const).flatMap((family) => {
    const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
    return Object.keys(packets[family] ?? {}).map((key) => {
      const [label, client] = key.split(' from ') as [string, string];
      return { key: `${family} ${key}`, query: queryOf(targets.get(label)!, client, family) };
    });
  });
  const asked = probes.map(({ query }) => ({ from: sourceText(query.from), to: destinationText(query) }));
  const answered = await command.answers(asked);
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
