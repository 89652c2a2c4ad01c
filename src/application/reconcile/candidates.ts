import type { ServicePortKey, ServicePortName } from '../../domain/model/service-port-name.js';
import type { DesiredState } from '../../domain/reconcile/desired-state.js';

/** Rules on their way into the kernel, and what their service port had before. */
export interface Candidate<Rules> {
  /** Undefined when the service port goes. */
  readonly name?: ServicePortName | undefined;
  readonly wanted: Rules | undefined;
  readonly former: Rules | undefined;
}

export type Candidates<Rules> = ReadonlyMap<ServicePortKey, Candidate<Rules>>;

/** Gives candidates back what they had. */
export function restore<Rules, Change>(
  desired: DesiredState<Rules, Change>,
  candidates: Iterable<readonly [ServicePortKey, Candidate<Rules>]>,
): void {
  for (const [key, { former }] of candidates) desired.replace(key, former);
}
