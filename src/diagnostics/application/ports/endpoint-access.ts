import type { Route } from '../../../application/ports/node/routes.js';

/** How this machine itself gets to endpoints. Every call ends within a second or so, and changes no rule. */
export interface EndpointAccess {
  /** Undefined: there is no route to the address. Rejects with a typed error if the kernel cannot be asked. */
  route(address: string): Promise<Route | undefined>;

  /**
   * What the kernel knows of a neighbour: a word of `ip neighbour`, such as `REACHABLE` or `FAILED`; undefined without an entry.
   * Rejects with a typed error if the kernel cannot be asked.
   */
  neighbour(address: string, device: string): Promise<string | undefined>;

  /** Opens a TCP connection and closes it at once. Why it cannot, for people; undefined if it can. Never rejects. */
  connect(address: string, port: number): Promise<string | undefined>;

  /** Idempotent. */
  close(): Promise<void>;
}
