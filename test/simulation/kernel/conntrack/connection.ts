import type { Tuple } from './tuple.js';

/** One direction's packets and bytes. */
export interface Counters {
  packets: number;
  bytes: number;
}

/** A connection that the kernel tracks. */
export interface Connection {
  readonly original: Tuple;
  /** As answers come: from where the packets were led to. */
  readonly reply: Tuple;
  readonly zone: number;
  /** A hash of the original tuple, so the same for a connection that a client begins again. */
  readonly id: number;
  /** IPS_… */
  readonly status: number;
  readonly mark: number;
  /** Of the protocol, TCP_CONNTRACK_… or SCTP_CONNTRACK_…; 0 for UDP. */
  readonly state: number;
  /** TCP_FLAG of the client's direction, and of the other. */
  readonly sentFlags: number;
  readonly answeredFlags: number;
  /** Milliseconds of simulated time, as `startedAt`. */
  readonly expiresAt: number;
  readonly startedAt: number;
  readonly sent: Readonly<Counters>;
  readonly answered: Readonly<Counters>;
}

/** How the table keeps it. */
export type Entry = { -readonly [Key in keyof Connection]: Connection[Key] } & {
  readonly sent: Counters;
  readonly answered: Counters;
};
