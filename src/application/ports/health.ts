import type { IpFamily } from '../../domain/net/ip-family.js';

/** The addresses and port of a Service's check: `all` for every address of the family. */
export interface HealthCheckSocket {
  readonly family: IpFamily;
  readonly addresses: 'all' | readonly string[];
  readonly port: number;
}

/** The health of one Service on this node, for load balancers. */
export interface ServiceHealth {
  readonly namespace: string;
  readonly name: string;
  /** Distinct addresses of ready endpoints on this node. */
  readonly localEndpoints: number;
  /** Whether the proxy works; if not, load balancers avoid the node. */
  readonly proxyHealthy: boolean;
}

/**
 * Serves the health checks of load balancers. Rejects if it cannot listen on one of the addresses, and then listens on none;
 * the caller retries. `answer` is called for each request.
 */
export interface HealthCheckListener {
  listen(socket: HealthCheckSocket, answer: () => ServiceHealth): Promise<OpenHealthCheck>;
}

export interface OpenHealthCheck {
  /** Ends connections too. When it resolves the port is free. Idempotent. */
  close(): Promise<void>;
}

/** The supervisor of this process, such as systemd. */
export interface ServiceManager {
  /** Milliseconds within which it expects `alive` again, or it restarts the process. Missing: it does not watch. */
  readonly watchdogMilliseconds?: number;
  /** The service does its work, and what depends on it may start. Idempotent. None of these calls throws. */
  ready(): void;
  /** The process works. */
  alive(): void;
  /** One line for people. */
  status(text: string): void;
  /** The process is about to end by itself. */
  stopping(): void;
}
