import type { VirtualServerId } from '../../../../src/domain/ipvs/virtual-server.js';
import { PROTOCOL_NUMBERS } from '../../../../src/domain/model/service-port-name.js';
import { familyOf } from '../netlink/addresses.js';

/** What tells virtual servers apart. */
export interface ServerId {
  /** AF_INET or AF_INET6. */
  readonly family: number;
  /** IPPROTO_… */
  readonly protocol: number;
  /** Canonical. */
  readonly address: string;
  readonly port: number;
}

export function serverAt({ address, protocol, port }: VirtualServerId): ServerId {
  return { family: familyOf(address), address, port, protocol: PROTOCOL_NUMBERS[protocol] };
}

/** What can be changed about a virtual server. */
export interface ServerSettings {
  readonly scheduler: string;
  /** IP_VS_SVC_F_… without that of being hashed. */
  readonly flags: number;
  /** Seconds that a client stays with its destination; used if it is persistent. */
  readonly timeout: number;
  /** Of IPv4 the mask of clients that count as one, of IPv6 the length of their prefix. */
  readonly netmask: number;
}

/** A destination to add, or what it is to be. */
export interface NewDestination {
  readonly family: number;
  readonly address: string;
  readonly port: number;
  /** IP_VS_CONN_F_…: 0 rewrites packets. */
  readonly forwarding: number;
  readonly weight: number;
}

/** Where a virtual server leads connections to. */
export interface Destination extends NewDestination {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
}

/** An address and port that IPVS takes connections of. */
export interface VirtualServer extends ServerId, ServerSettings {
  /** By `destinationKey`, in the order in which they were added. */
  readonly destinations: ReadonlyMap<string, Destination>;
}

export function serverKey({ protocol, address, port }: ServerId): string {
  return `${protocol} ${address} ${port}`;
}

export function destinationKey({ address, port }: Pick<Destination, 'address' | 'port'>): string {
  return `${address} ${port}`;
}
