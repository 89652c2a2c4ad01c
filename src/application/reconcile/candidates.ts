import type { ServicePortKey, ServicePortName } from '../../domain/model/service-port-name.js';
import type { AdoptedRules } from '../../domain/reconcile/adopted-rules.js';
import type { DesiredState } from '../../domain/reconcile/desired-state.js';

/** Rules about to be written, and the rules that their service port had before. */
export interface Candidate<Rules> {
  /** Undefined if the service port is removed. */
  readonly name?: ServicePortName | undefined;
  readonly wanted: Rules | undefined;
  readonly former: Rules | undefined;
}

export type Candidates<Rules> = ReadonlyMap<ServicePortKey, Candidate<Rules>>;

/** Gives the candidates their former rules back. */
export function restore<Rules, Change>(
  desired: DesiredState<Rules, Change>,
  candidates: Iterable<readonly [ServicePortKey, Candidate<Rules>]>,
): void {
  for (const [key, { former }] of candidates) desired.replace(key, former);
}

/** Candidates that had no rules in this process fall back to what an earlier one left. */
export function withAdopted<Rules>(
  candidates: Candidates<Rules>,
  adopted: AdoptedRules<Rules> | undefined,
): Map<ServicePortKey, Candidate<Rules>> {
  if (!adopted) return new Map(candidates);
  return new Map(
    Array.from(candidates, ([key, candidate]) => {
      const { name, wanted, former } = candidate;
      if (!name || !wanted || former) return [key, candidate];
      return [key, { ...candidate, former: adopted.rules(adopted.label(name), key) }];
    }),
  );
}
