import type { Service } from '../model/service.js';
import { IP_FAMILIES } from '../net/ip-family.js';

/** As many as a Service may have where nobody says otherwise: mode nftables programs them in about a second. */
export const USUAL_FRONTENDS_LIMIT = 20_000;

/**
 * What is wrong with a Service that has more frontends, of both families, than the node may spend on one; undefined if it has not.
 * @param limit 0: any number
 */
export function tooManyFrontends(service: Service, limit: number): string | undefined {
  const addresses = addressesOf(service);
  const nodePorts = service.ports.filter(({ nodePort }) => nodePort !== 0).length;
  const frontends = service.ports.length * addresses + nodePorts;
  if (limit === 0 || frontends <= limit) return undefined;
  const places = `${service.ports.length} ports on ${addresses} ${addresses === 1 ? 'address' : 'addresses'}`;
  return `spec.ports has ${places}${nodePorts > 0 ? `, ${nodePorts} with a node port` : ''}: ${frontends} frontends, more than --service-frontends-limit=${limit}`;
}

function addressesOf({ clusterIPs, externalIPs, loadBalancerIPs }: Service): number {
  const own = IP_FAMILIES.filter((family) => clusterIPs[family] !== undefined).length;
  const distinct = (addresses: Service['externalIPs']) => new Set(addresses.map(({ text }) => text)).size;
  return own + distinct(externalIPs) + distinct(loadBalancerIPs);
}
