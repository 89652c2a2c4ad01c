/** Proxy ports: their endpoints, and the ports of this machine that they claim. */

import { frontendAddress } from '../conntrack/frontend-map.js';
import type { ServicePortFlows } from '../conntrack/desired-flows.js';
import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import type { Protocol, ServicePortKey } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';

/** The handling of connections to one proxy port. */
export interface ProxiedPort {
  readonly servicePort: ServicePortKey;
  /** Chosen in turn. */
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port'>[];
  /** Clients keep their endpoint. */
  readonly isSticky: boolean;
}

/** Finds what is behind a port of this machine; undefined where it is no proxy port that is known. */
export type FindProxiedPort = (protocol: Protocol, port: number) => ProxiedPort | undefined;

/** The sockets of a process that serves in userspace mode. */
export interface ProxyPorts {
  readonly proxiedAt: FindProxiedPort;
  /** Undefined while the service port has none. */
  readonly proxyPortOf: (key: ServicePortKey) => number | undefined;
}

/** The proxy's part of a service port. */
export function proxied({ key, endpoints, affinitySeconds }: ForwardingEntry): ProxiedPort {
  return { servicePort: key, endpoints: endpoints.reachable, isSticky: affinitySeconds > 0 };
}

/** A port of this machine that no other program may take while it leads to a service (docs/internals/spec/userspace.md §5.3). */
export interface PortClaim {
  /** Undefined for every address of this machine. */
  readonly address: string | undefined;
  readonly port: number;
}

/** The addresses to claim for a frontend: node ports, and service addresses that are this machine's own. */
export function claimOf(
  { address, port }: Frontend,
  isLocal: (address: string) => boolean,
): PortClaim | undefined {
  return address === undefined || isLocal(address) ? { address, port } : undefined;
}

/** Distinguishes the claims of one protocol. */
export function claimText({ address, port }: PortClaim): string {
  return hostPort(address ?? '', port);
}

/**
 * The effect of a UDP service port on the flows of its clients when a proxy answers for its endpoints: the kernel leads
 * them to the proxy port, under one of the addresses of this machine.
 */
export function proxiedFlows(
  frontends: readonly Frontend[],
  addresses: readonly string[],
  proxyPort: number,
): ServicePortFlows {
  return {
    frontends: frontends.map(frontendAddress),
    endpoints: new Set(addresses.map((address) => hostPort(address, proxyPort))),
  };
}
