import type { ForwardingEntry, Frontend } from '../../domain/forwarding/forwarding-entry.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import type { HeldFrontend } from '../status/port-status.js';
import { counted } from './counted.js';

/* A frontend that belongs to another Service: on terminals and on the page alike. */

/** How many endpoints are named. */
const MOST = 3;

/** `belongs to shop/dns:udp`. */
export function heldBy({ holder, port }: Pick<HeldFrontend, 'holder' | 'port'>): string {
  return `belongs to ${holder}${port === undefined ? '' : `:${port}`}`;
}

/** `10.96.0.10:53/UDP belongs to shop/dns:udp`. */
function heldFrontendText(held: HeldFrontend): string {
  return `${held.frontend} ${heldBy(held)}`;
}

/** The frontends of a service port that others hold, the first few by name. */
export function heldFrontendsText(held: readonly HeldFrontend[]): string {
  const more = held.length - MOST;
  return [
    ...held.slice(0, MOST).map(heldFrontendText),
    ...(more > 0 ? [`${counted(more, 'more frontend')} of others`] : []),
  ].join('; ');
}

/** What follows the number of degraded service ports. Empty if all their frontends are their own. @param count frontends */
export function heldCountWords(count: number): string {
  if (count === 0) return '';
  return ` (${count} of their frontends belong to others)`;
}

/** Where packets to a frontend go that another Service holds. @param frontend the holder's */
export function holderFateText({ endpoints }: ForwardingEntry, { policy, outcome }: Frontend): string {
  switch (outcome) {
    case 'reject':
      return 'packets are refused: it has no usable endpoint';
    case 'drop':
      return 'packets are dropped: its policy is Local, and no endpoint on this node is usable';
    case 'forward': {
      const places = ((policy === 'Local' ? endpoints.local : endpoints.cluster) ?? []).map(endpointPlace);
      const more = places.length - MOST;
      const named = `${places.slice(0, MOST).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
      return `packets go to ${places.length === 1 ? 'its endpoint' : `its ${counted(places.length, 'endpoint')}`} ${named}`;
    }
  }
}
