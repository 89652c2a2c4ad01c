import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import type { Protocol, ServicePortKey } from '../model/service-port-name.js';

/** What the process does with connections to one of its proxy ports. */
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

/** What the process does for a service port. */
export function proxied({ key, endpoints, affinitySeconds }: ForwardingEntry): ProxiedPort {
  return { servicePort: key, endpoints: endpoints.reachable, isSticky: affinitySeconds > 0 };
}
