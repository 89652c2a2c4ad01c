import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** A service port about to be changed. */
export interface Candidate<Rules> {
  /** Its last good rules; undefined if it had none. */
  readonly former: Rules | undefined;
}

export type Candidates<Rules> = ReadonlyMap<ServicePortKey, Candidate<Rules>>;
