import type { Service } from '../model/service.js';
import { IP_FAMILIES } from '../net/ip-family.js';

/** As many as a Service may have where nobody says otherwise: mode nftables programs them in about a second. */
export const USUAL_FRONTENDS_LIMIT = 20_000;

/** The most sources of load-balancer frontends: each range is an element for each of these frontends. */
const MOST_SOURCES = 65_536;

/**
 * The problem of a Service that has more frontends, of both families, than the node may spend on one, or more source ranges for them;
 * undefined if it has not.
 * @param limit of frontends; 0: any number, of ranges, too
 */
export function tooManyFrontends(service: Service, limit: number): string | undefined {
  return limit === 0 ? undefined : (excessFrontends(service, limit) ?? excessSources(service));
}

function excessSources({ ports, loadBalancerIPs, sourceRanges }: Service): string | undefined {
  const sources = ports.length * loadBalancerIPs.length * sourceRanges.length;
  if (sources <= MOST_SOURCES) return undefined;
  return `spec.loadBalancerSourceRanges has ${sourceRanges.length} ranges for ${ports.length} ports on ${loadBalancerIPs.length} load-balancer IPs: ${sources} in all, more than ${MOST_SOURCES}`;
}

function excessFrontends(service: Service, limit: number): string | undefined {
  const addresses = addressesOf(service);
  const nodePorts = service.ports.filter(({ nodePort }) => nodePort !== 0).length;
  const frontends = service.ports.length * addresses + nodePorts;
  if (frontends <= limit) return undefined;
  const places = `${service.ports.length} ports on ${addresses} ${addresses === 1 ? 'address' : 'addresses'}`;
  return `spec.ports has ${places}${nodePorts > 0 ? `, ${nodePorts} with a node port` : ''}: ${frontends} frontends, more than --service-frontends-limit=${limit}`;
}

function addressesOf({ clusterIPs, externalIPs, loadBalancerIPs }: Service): number {
  const own = IP_FAMILIES.filter((family) => clusterIPs[family] !== undefined).length;
  const distinct = (addresses: Service['externalIPs']) => new Set(addresses.map(({ text }) => text)).size;
  return own + distinct(externalIPs) + distinct(loadBalancerIPs);
}
