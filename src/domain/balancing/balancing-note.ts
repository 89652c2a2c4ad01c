import type { Balancing, BalancingMethod } from './balancing.js';

/** What a Service asks for. */
export interface AskedChoice {
  readonly balancing?: Balancing | undefined;
  /** What there can be no tables for, and why. */
  readonly deniedBalancing?: { readonly reason?: string | undefined } | undefined;
  /** An IPVS scheduler. */
  readonly scheduler?: string;
}

/**
 * What a mode does in place of what a Service asks for, for people; undefined if it does that.
 * @param methods those that the mode has besides random choice
 */
export function balancingNote(
  { balancing, deniedBalancing, scheduler }: AskedChoice,
  mode: string,
  methods: readonly BalancingMethod[],
): string | undefined {
  if (deniedBalancing?.reason !== undefined)
    return `no tables for load balancing: ${deniedBalancing.reason}; its Service's endpoints are chosen at random, with equal chances`;
  const { method = 'random', isWeighted = false } = balancing ?? {};
  const instead = `endpoints are chosen at random${isWeighted ? ', by their weights' : ''}`;
  if (method !== 'random')
    return methods.includes(method) ? undefined : `mode ${mode} cannot choose by ${method}; ${instead}`;
  if (scheduler === undefined || scheduler === 'random') return undefined;
  return `mode ${mode} has no scheduler ${scheduler}, which looks at connections; ${instead}`;
}
