import type { VirtualServerId } from '../../../../src/domain/ipvs/virtual-server.js';
import { PROTOCOL_NUMBERS } from '../../../../src/domain/model/service-port-name.js';
import { AF_INET, AF_INET6 } from '../netlink/numbers.js';

/** What tells virtual servers apart. */
export interface ServerId {
  /** AF_INET or AF_INET6. */
  readonly family: number;
  /** IPPROTO_…; of a server by firewall mark TCP. */
  readonly protocol: number;
  /** Canonical; empty for a server by firewall mark. */
  readonly address: string;
  readonly port: number;
  /** 0 for a server with an address. */
  readonly firewallMark: number;
}

/** That of a server with an address. */
export function serverAt({ address, protocol, port }: VirtualServerId): ServerId {
  const family = address.includes(':') ? AF_INET6 : AF_INET;
  return { family, address, port, protocol: PROTOCOL_NUMBERS[protocol], firewallMark: 0 };
}

/** What can be changed about a virtual server. */
export interface ServerSettings {
  /** `none` schedules nothing. */
  readonly scheduler: string;
  /** IP_VS_SVC_F_… without that of being hashed. */
  readonly flags: number;
  /** Seconds that a client stays with its destination; used if it is persistent. */
  readonly timeout: number;
  /** Of IPv4 the mask of clients that count as one, of IPv6 the length of their prefix. */
  readonly netmask: number;
}

/** What can be changed about a destination. */
export interface DestinationSettings {
  /** IP_VS_CONN_F_…: 0 rewrites packets. */
  readonly forwarding: number;
  readonly weight: number;
  readonly upperThreshold: number;
  readonly lowerThreshold: number;
}

/** Where a virtual server leads connections to. */
export interface Destination extends DestinationSettings {
  readonly family: number;
  readonly address: string;
  readonly port: number;
  readonly activeConnections: number;
  readonly inactiveConnections: number;
}

/** An address and port, or a firewall mark, that IPVS takes connections of. */
export interface VirtualServer extends ServerId, ServerSettings {
  /** By `destinationKey`, in the order in which they were added. */
  readonly destinations: ReadonlyMap<string, Destination>;
}

/** Seconds. */
export interface Timeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

export function serverKey({ family, protocol, address, port, firewallMark }: ServerId): string {
  return firewallMark === 0 ? `${protocol} ${address} ${port}` : `mark ${family} ${firewallMark}`;
}

export function destinationKey({ address, port }: Pick<Destination, 'address' | 'port'>): string {
  return `${address} ${port}`;
}
