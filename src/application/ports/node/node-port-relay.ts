import type { LocalhostNodePort } from '../../../domain/forwarding/localhost-node-port.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

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
