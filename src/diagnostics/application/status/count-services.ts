import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { ForwardingTable } from '../../../domain/forwarding/forwarding-table.js';
import { asideOf } from '../../../domain/select-endpoints.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { ServiceCounts } from './service-row.js';
import { heldOf, holdsNothing, type ServiceStatuses } from '../../../application/status/service-statuses.js';

/** What the service ports of a Service have, added up. */
export interface ServiceTally {
  /** Endpoints that traffic of this node may go to. */
  readonly used: number;
  /** Endpoints that the cluster lists. */
  readonly known: number;
  /** Endpoints that step aside. */
  readonly aside: number;
  /** Frontends that other Services hold. */
  readonly held: number;
}

/** Of these entries of one Service, in all families. */
export function tallyOf(
  entries: readonly ForwardingEntry[],
  statuses: Pick<ServiceStatuses, 'get'>,
): ServiceTally {
  let [used, known, aside, held] = [0, 0, 0, 0];
  for (const entry of entries) {
    const status = statuses.get(entry.family, entry.key);
    if (!holdsNothing(entry, status)) used += entry.endpoints.reachable.length;
    known += entry.knownEndpoints;
    aside += asideOf(entry.endpoints).length;
    held += heldOf(status);
  }
  return { used, known, aside, held };
}

/** Services that are looked at in one turn of the event loop: a few milliseconds. */
const PORTION = 2_000;

/** Use case CountServices: how many Services, frontends and endpoints somebody should look at. Changes nothing; looks at all Services. */
export class CountServices {
  constructor(
    private readonly state: Pick<ClusterState, 'serviceKeys'>,
    private readonly loops: readonly { readonly table: Pick<ForwardingTable, 'entriesOf'> }[],
    private readonly statuses: Pick<ServiceStatuses, 'get'>,
  ) {}

  /** Services that come or go meanwhile may be missing. @param signal aborted: nobody wants the rest */
  async counts(signal: AbortSignal): Promise<ServiceCounts> {
    let [withoutEndpoints, held, aside, looked] = [0, 0, 0, 0];
    for (const key of [...this.state.serviceKeys()]) {
      const tally = tallyOf(
        this.loops.flatMap(({ table }) => table.entriesOf(key)),
        this.statuses,
      );
      if (tally.used === 0) withoutEndpoints++;
      held += tally.held;
      aside += tally.aside;
      if (++looked % PORTION > 0) continue;
      await yieldToEventLoop();
      if (signal.aborted) break;
    }
    return { withoutEndpoints, held, aside };
  }
}
