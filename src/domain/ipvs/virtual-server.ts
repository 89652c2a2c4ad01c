/** Virtual servers, and their text as ipvsadm prints it. */

import type { Protocol } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';

/** The kernel's flag for a server that keeps a client with its real server (`IP_VS_SVC_F_PERSISTENT`). */
export const PERSISTENT = 0x1;

/**
 * The flag of the schedulers `sh` and `mh` that chooses another real server for a client whose own has weight 0
 * (`IP_VS_SVC_F_SCHED_SH_FALLBACK`, `IP_VS_SVC_F_SCHED_MH_FALLBACK`).
 */
export const FALLBACK = 0x8;

/** The flag of these that includes the source port in the hash (`IP_VS_SVC_F_SCHED_SH_PORT`, `IP_VS_SVC_F_SCHED_MH_PORT`). */
export const HASH_SOURCE_PORT = 0x10;

/** One address and port that IPVS takes connections for, as the kernel stores it (docs/internals/spec/ipvs.md §4.1). */
export interface VirtualServer {
  /** Canonical; its family is the server's. */
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly scheduler: string;
  /** The kernel's flags, except the one that marks a server as hashed. */
  readonly flags: number;
  /** Seconds that a client stays with its real server; 0 without persistence. */
  readonly persistenceSeconds: number;
}

/** One endpoint of a virtual server, reached by rewriting the destination (docs/internals/spec/ipvs.md §4.2). */
export interface RealServer {
  readonly address: string;
  readonly port: number;
  /** That of an endpoint in use, 1 unless it has another one; 0 for one that only keeps the connections it has. */
  readonly weight: number;
}

/** A real server as the kernel lists it. */
export interface CountedRealServer extends RealServer {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
}

/** The identity of a virtual server in the kernel. */
export type VirtualServerId = Pick<VirtualServer, 'address' | 'protocol' | 'port'>;

/** `ip:port/PROTO`: identifies a virtual server. */
export type VirtualServerKey = string;

export function virtualServerKey({ address, port, protocol }: VirtualServerId): VirtualServerKey {
  return `${hostPort(address, port)}/${protocol}`;
}

/** `ip:port`: identifies a real server of a virtual server. */
export type RealServerKey = string;

export function realServerKey({ address, port }: Pick<RealServer, 'address' | 'port'>): RealServerKey {
  return hostPort(address, port);
}

/** Whether both are equal for the kernel, apart from their real servers. */
export function sameService(one: VirtualServer, other: VirtualServer): boolean {
  return (
    one.scheduler === other.scheduler &&
    one.flags === other.flags &&
    one.persistenceSeconds === other.persistenceSeconds
  );
}

const PROTOCOL_OPTION: Readonly<Record<Protocol, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };

/** A virtual server with its endpoints, of which those without a weight have weight 1. */
interface WeighedServer {
  readonly server: VirtualServer;
  readonly endpoints: readonly (Pick<RealServer, 'address' | 'port'> & Partial<RealServer>)[];
}

/** Virtual servers as `ipvsadm -S -n` prints them. */
export function serverLines(served: readonly WeighedServer[]): readonly string[] {
  return served.flatMap(({ server, endpoints }) => [
    serverLine(server),
    ...endpoints.map(
      ({ address, port, weight = 1 }) =>
        `-a ${serviceText(server)} -r ${hostPort(address, port)} -m -w ${weight}`,
    ),
  ]);
}

/** A virtual server alone. */
export function serverLine(server: VirtualServer): string {
  return `-A ${serviceText(server)} -s ${server.scheduler}${optionsOf(server)}`;
}

function serviceText({ address, protocol, port }: VirtualServer): string {
  return `${PROTOCOL_OPTION[protocol]} ${hostPort(address, port)}`;
}

/** The flags of the schedulers that have names for them, in ipvsadm's order. */
export const SCHEDULER_FLAGS: Readonly<Record<string, number>> = {
  'sh-fallback': FALLBACK,
  'mh-fallback': FALLBACK,
  'sh-port': HASH_SOURCE_PORT,
  'mh-port': HASH_SOURCE_PORT,
};

function optionsOf({ persistenceSeconds, flags, scheduler }: VirtualServer): string {
  const persistence = persistenceSeconds > 0 ? ` -p ${persistenceSeconds}` : '';
  const names = Object.entries(SCHEDULER_FLAGS).flatMap(([name, flag]) =>
    flags & flag && name.startsWith(`${scheduler}-`) ? name : [],
  );
  return persistence + (names.length > 0 ? ` -b ${names.join(',')}` : '');
}
