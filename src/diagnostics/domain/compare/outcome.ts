import { hostPort } from '../../../domain/net/address.js';
import type { TracedEnding } from '../trace/traced-ending.js';
import { PROBABILITY_TOLERANCE } from '../walk/turn.js';

/** One thing that may become of a packet. */
export interface Fate {
  /** `delivered`: no rule took it, and its destination is the node's own. */
  readonly verdict: TracedEnding['verdict'] | 'delivered';
  readonly endpoint?: { readonly address: string; readonly port: number };
  readonly masquerade: boolean;
  /** Its client is remembered, and comes to the same endpoint again. */
  readonly sticky: boolean;
  readonly probability: number;
}

/** All that may become of a packet on one side. */
export interface Outcome {
  /** Different from each other, in an order of their own. */
  readonly fates: readonly Fate[];
  /** For how long the client is remembered, in seconds; undefined if it is not. */
  readonly stickySeconds: number | undefined;
  readonly endings: readonly TracedEnding[];
}

export function outcomeOf(
  endings: readonly TracedEnding[],
  isLocal: boolean,
  affinity: readonly number[],
): Outcome {
  const fates = new Map<string, Fate>();
  for (const ending of endings) {
    const fate = fateOf(ending, isLocal);
    const text = fateName(fate);
    const known = fates.get(text)?.probability ?? 0;
    fates.set(text, { ...fate, probability: known + ending.probability });
  }
  return {
    fates: [...fates].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, fate]) => fate),
    stickySeconds: endings.some(({ sticky }) => sticky) ? Math.max(0, ...affinity) : undefined,
    endings,
  };
}

function fateOf(
  { verdict, endpoint, masquerade, sticky, probability }: TracedEnding,
  isLocal: boolean,
): Fate {
  if (verdict === 'sent') return { verdict, endpoint: endpoint!, masquerade, sticky, probability };
  const rest = { sticky: false, probability };
  if (verdict !== 'untouched') return { verdict, masquerade: false, ...rest };
  return { verdict: isLocal ? 'delivered' : verdict, masquerade: masquerade && !isLocal, ...rest };
}

/** Tells fates apart, whatever their probability. */
export function fateName({ verdict, endpoint, masquerade, sticky }: Fate): string {
  return `${verdict} ${endpoint ? hostPort(endpoint.address, endpoint.port) : ''} ${masquerade} ${sticky}`;
}

export function sameOutcome(one: Outcome, other: Outcome): boolean {
  return (
    one.stickySeconds === other.stickySeconds &&
    one.fates.length === other.fates.length &&
    one.fates.every((fate, at) => isSame(fate, other.fates[at]!))
  );
}

function isSame(one: Fate, other: Fate): boolean {
  const [p, q] = [one.probability, other.probability];
  return (
    one.verdict === other.verdict &&
    one.endpoint?.address === other.endpoint?.address &&
    one.endpoint?.port === other.endpoint?.port &&
    one.masquerade === other.masquerade &&
    one.sticky === other.sticky &&
    Math.abs(p - q) <= PROBABILITY_TOLERANCE
  );
}
