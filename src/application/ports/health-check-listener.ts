import type { IpFamily } from '../../domain/net/ip-family.js';

/** What the check of one Service listens on: `all` for every address of the family. */
export interface HealthCheckSocket {
  readonly family: IpFamily;
  readonly addresses: 'all' | readonly string[];
  readonly port: number;
}

/** What load balancers are told about one Service on this node. */
export interface ServiceHealth {
  readonly namespace: string;
  readonly name: string;
  /** Distinct addresses of ready endpoints on this node. */
  readonly localEndpoints: number;
  /** Whether the proxy does its work; load balancers turn away from the node otherwise. */
  readonly proxyHealthy: boolean;
}

/**
 * Answers the health checks of load balancers. Rejects when one of the addresses cannot be listened on, and then listens on
 * none; the caller tries again. `answer` is called for each request.
 */
export interface HealthCheckListener {
  listen(socket: HealthCheckSocket, answer: () => ServiceHealth): Promise<OpenHealthCheck>;
}

export interface OpenHealthCheck {
  /** Ends connections too. When it resolves the port is free. Idempotent. */
  close(): Promise<void>;
}
