import type { LocalhostNodePort } from '../../../domain/forwarding/localhost-node-port.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { Frontend } from '../../../domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../../domain/model/endpoint.js';

/** The endpoints of connections, and the time of client affinity. */
export type RelayTarget = Pick<LocalhostNodePort, 'endpoints' | 'affinitySeconds'>;

/** Takes TCP connections to node ports on localhost and carries each to an endpoint; to another one if that does not answer. */
export interface NodePortRelay {
  /**
   * Listens on localhost of the family. If it cannot, it rejects with an error that names the address and the remedy; the caller
   * retries. `target` has an endpoint.
   */
  listen(family: IpFamily, port: number, target: RelayTarget): Promise<OpenNodePort>;
}

export interface OpenNodePort {
  /** For new connections; existing ones keep their endpoint. Cheap. */
  serve(target: RelayTarget): void;
  /**
   * Accepts no more connections, except those that the kernel has already accepted; existing ones end by themselves. When it
   * resolves the port is free. Called once; never rejects.
   */
  close(): Promise<void>;
}

/**
 * A connection table besides conntrack, as that of IPVS: such a connection continues when its conntrack entry is removed,
 * and ends only together with all others that lead from the same frontends to the same endpoint.
 */
export interface ConnectionTable {
  /**
   * Ends the TCP connections from these frontends to an endpoint that gets no new ones; an endpoint that gets new ones keeps all.
   * Idempotent. Rejects when some remain; another call may end them.
   */
  giveUp(
    family: IpFamily,
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    frontends: readonly Frontend[],
  ): Promise<void>;
}

/** The result of an attempt to connect. A refused connection is answered. `impossible`: no attempt could be made. */
export type AttemptOutcome = 'answered' | 'unanswered' | 'impossible';

/** Connects from this node to an endpoint itself, by TCP, to find out whether it answers. */
export interface EndpointConnector {
  /**
   * Tries once, and closes the connection immediately. Never rejects.
   * @param milliseconds how long an answer may take
   * @param signal ends the attempt when it is aborted; then it is `impossible`, unless it was over before
   */
  attempt(
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<AttemptOutcome>;
}
