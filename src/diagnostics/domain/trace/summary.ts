import type { Step, Trace, TracedEndpoint, TraceOutcome } from './trace.js';
import type { TracedEnding } from './traced-ending.js';

/**
 * All ends of a packet in one.
 * @param rewrites whether replies of an ending come back to another address than the sender's own
 */
export function summaryOf(
  endings: readonly TracedEnding[],
  rewrites: (ending: TracedEnding) => Trace['sourceRewritten'],
): Trace {
  const arriving = endings.filter(({ verdict }) => verdict === 'sent' || verdict === 'untouched');
  const rewritten = new Set(arriving.map(rewrites));
  const [first = false] = rewritten;
  const steps = stepsOf(endings);
  return {
    outcome: outcomeOf(endings),
    endpoints: endpointsOf(endings),
    sourceRewritten: rewritten.size > 1 ? 'mixed' : first,
    sticky: arriving.some(({ sticky }) => sticky),
    steps,
    ...(steps.some(({ isUncertain }) => isUncertain) && { isUncertain: true }),
  };
}

function outcomeOf(endings: readonly TracedEnding[]): TraceOutcome {
  const [verdict, another] = new Set(endings.map((ending) => ending.verdict));
  if (verdict === undefined || another !== undefined) return 'mixed';
  return verdict === 'sent' ? 'forward' : verdict;
}

/** An endpoint that is reached in several ways is one. */
function endpointsOf(endings: readonly TracedEnding[]): readonly TracedEndpoint[] {
  const byText = new Map<string, TracedEndpoint>();
  for (const { endpoint, probability } of endings) {
    if (!endpoint) continue;
    const text = `${endpoint.address} ${endpoint.port}`;
    const known = byText.get(text)?.probability ?? 0;
    byText.set(text, { ...endpoint, probability: known + probability });
  }
  return [...byText.values()].sort((one, other) =>
    one.address === other.address ? one.port - other.port : one.address < other.address ? -1 : 1,
  );
}

/** Steps that several endings have in common at their beginnings appear once. */
function stepsOf(endings: readonly TracedEnding[]): readonly Step[] {
  const all: Step[] = [];
  let former: readonly Step[] = [];
  for (const { steps } of endings) {
    const parting = steps.findIndex((step, index) => !isSame(step, former[index]));
    if (parting >= 0) all.push(...steps.slice(parting));
    former = steps;
  }
  return all;
}

function isSame(one: Step, other: Step | undefined): boolean {
  return (
    one === other ||
    (one.hook === other?.hook &&
      one.where === other.where &&
      one.rule === other.rule &&
      one.effect === other.effect)
  );
}
