import type { LocalhostNodePort } from '../../../domain/forwarding/localhost-node-port.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { Frontend } from '../../../domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../../domain/model/endpoint.js';

/** Where connections go, and how long a client stays where it was. */
export type RelayTarget = Pick<LocalhostNodePort, 'endpoints' | 'affinitySeconds'>;

/** Takes TCP connections to node ports on localhost and carries each to an endpoint; to another one if that does not answer. */
export interface NodePortRelay {
  /**
   * Listens on localhost of the family. Rejects with an error that names the address and says what to do, if it cannot; the caller
   * retries. `target` has an endpoint.
   */
  listen(family: IpFamily, port: number, target: RelayTarget): Promise<OpenNodePort>;
}

export interface OpenNodePort {
  /** For connections from now on; those that there are stay where they are. Cheap. */
  serve(target: RelayTarget): void;
  /**
   * Takes no more connections, after those that the kernel has made already; the ones that there are end by themselves. When it
   * resolves the port is free. Called once; never rejects.
   */
  close(): Promise<void>;
}

/**
 * What holds connections beside the table of tracked ones, as IPVS does: such a connection goes on when its tracked one is removed,
 * and ends only together with all others that lead from the same frontends to the same endpoint.
 */
export interface ConnectionHolder {
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

/** What became of an attempt to connect. A refused connection is answered. `impossible`: no attempt could be made. */
export type AttemptOutcome = 'answered' | 'unanswered' | 'impossible';

/** Connects from this node to an endpoint itself, by TCP, to find out whether it answers. */
export interface EndpointConnector {
  /**
   * Tries once, and closes the connection at once. Never rejects.
   * @param milliseconds how long an answer may take
   * @param signal ends the attempt when it is aborted; then it is `impossible`, unless it was over before
   */
  attempt(
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<AttemptOutcome>;
}
