import type { Frontend } from '../../../domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../../domain/model/endpoint.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/**
 * What holds connections beside the table of tracked ones, as IPVS does: such a connection goes on when its tracked one is removed,
 * and ends only together with all others that lead from the same frontends to the same endpoint.
 */
export interface ConnectionHolder {
  /**
   * Ends the TCP connections from these frontends to an endpoint that gets no new ones; an endpoint that gets new ones keeps all.
   * Idempotent. Rejects when some remain; another call may end them.
   */
  giveUp(
    family: IpFamily,
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    frontends: readonly Frontend[],
  ): Promise<void>;
}
