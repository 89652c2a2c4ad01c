import type { CheckedPorts } from '../../../domain/forwarding/forwarding-check.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** Connects from this node to a frontend whose rules lead back to this process. */
export interface ForwardingProbe {
  /**
   * Takes two ports on the loopback address of the family. Rejects with the reason if the node has none; the caller retries.
   */
  open(family: IpFamily): Promise<OpenForwardingProbe>;
}

export interface OpenForwardingProbe extends CheckedPorts {
  /** The next process takes the same ports, if they are free: the rules of the check may stay, and a restart writes nothing. */
  readonly isUsual: boolean;

  /**
   * Connects to the frontend and exchanges data with the listener behind it. Never rejects. One call at a time.
   * @returns why that failed, for people; undefined: the rules led the connection to the endpoint
   */
  attempt(): Promise<string | undefined>;

  /** Frees the ports, and ends an attempt. Idempotent. */
  close(): void;
}
