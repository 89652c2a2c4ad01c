import type { SharedEntry } from '../iptables/table.js';
import type { Endpoint } from '../model/endpoint.js';
import type { Protocol } from '../model/service-port-name.js';
import type { Part } from '../reconcile/owned-parts.js';
import type { ServiceSet } from './service-sets.js';
import { virtualServerKey, type VirtualServer, type VirtualServerKey } from './virtual-server.js';

/** A virtual server and the endpoints that it chooses from. */
export interface ServedAddress {
  readonly server: VirtualServer;
  /** Those without a weight have weight 1. */
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port' | 'weight'>[];
}

/** A member of one of the sets, after the name of the set: `KUBE-CLUSTER-IP 10.96.0.10,udp:53`, as the tool ipset prints it. */
export type SetMember = `${ServiceSet} ${string}`;

const ADDRESS_AND_PORT = /^\S+ ([^,]+),(tcp|udp|sctp):(\d+)/;

/** The virtual server that the member would be about, by its address and port; undefined if it has not both. */
export function serverOf(member: SetMember): VirtualServerKey | undefined {
  const [, address, protocol, port] = ADDRESS_AND_PORT.exec(member) ?? [];
  if (address === undefined) return undefined;
  return virtualServerKey({ address, port: Number(port), protocol: protocol!.toUpperCase() as Protocol });
}

/**
 * The request of a service port for one frontend, or a member of a set that belongs to none. It gets it only when it owns the
 * part. The key of a frontend is its name, `10.96.0.10:53/UDP`, or `node port 30053/UDP` for what all addresses of a node port
 * share; that of a lone member is the member.
 */
export interface IpvsPart extends Part {
  /** The virtual server, which has the same key. */
  readonly served?: ServedAddress;
  /** The address to bind to the device of service addresses. */
  readonly bound?: string;
  readonly members: readonly SetMember[];
  readonly rules: readonly SharedEntry[];
}

/** All requests of one service port in its family. */
export type IpvsServicePortRules = readonly IpvsPart[];
