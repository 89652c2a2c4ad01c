import { serviceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';

/** How many slices are named. */
const MOST = 5;

/**
 * EndpointSlices that may be meant for a Service without any: of its namespace, named after it without a label, or labeled
 * with the name of no Service. Searches all slices, so only for people who ask.
 */
export function misplacedSlices(state: ClusterState, service: ServiceKey): readonly string[] {
  const [namespace = ''] = service.split('/');
  const found: string[] = [];
  for (const slice of state.unlabeledSlices())
    if (slice.startsWith(`${service}-`)) found.push(`${slice} (without the label)`);
  for (const slice of state.allSlices()) {
    if (slice.namespace !== namespace) continue;
    const owner = serviceKey(namespace, slice.service);
    if (state.service(owner) || state.unservedKind(owner) !== undefined) continue;
    found.push(`${serviceKey(namespace, slice.name)} (labeled ${slice.service}, which is no Service)`);
  }
  return found.sort().slice(0, MOST);
}
