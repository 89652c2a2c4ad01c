import type { SeenFlow } from '../../../domain/conntrack/flow.js';

/** Events of tracked connections. A flow is only valid during the call. */
export interface FlowSink {
  began(flow: SeenFlow): void;
  /** Only changes that matter for counting are reported: the first answer, and the end of TCP connections. */
  changed(flow: SeenFlow): void;
  /** The kernel no longer tracks it. */
  ceased(flow: SeenFlow): void;
}

/** The read part. */
export interface EventsRead {
  readonly count: number;
  /** Events came faster than they were read, and some are lost. Only a walk shows what they were. */
  readonly lost: boolean;
}

/** The kernel's table of tracked connections as a whole. */
export interface TrackedConnections {
  readonly count: number;
  /** Bytes are counted, at least of connections that begin from now on. */
  readonly countsBytes: boolean;
  /** Those of Services are among them. What carries them through IPVS may leave them out. */
  readonly tracksServices: boolean;
  /**
   * Packets on bridges meet the rules, too (bridge-nf-call-iptables). One from a pod to an endpoint on the same bridge gets its entry
   * only when its neighbour is known, so never if that is dead. Missing: no.
   */
  readonly hidesDeadOnBridges?: boolean;
}

/**
 * The kernel's reports about tracked TCP, UDP and SCTP connections of both families in this network namespace: events, in
 * their order, and walks through its table. Between `open` and `close` the kernel collects events in a bounded buffer, so
 * they have to be read often. Nothing is retried here.
 */
export interface FlowEvents {
  /** @throws ConntrackUnavailableError when there are no events to be had */
  open(): void;
  /** Passes on what happened since the last call, as much as the buffer holds. Blocks for some milliseconds at most. */
  read(sink: FlowSink): EventsRead;
  /**
   * From now on only connections of this sample are reported and found (`inSample`), by events and listings. The kernel leaves
   * the others out, so they cost nothing here.
   */
  sample(shift: number): void;
  /**
   * Walks through the whole table. Connections that begin or end meanwhile may be found or not, and one that is found may be
   * gone by then.
   * @param found called for those of the sample
   * @param pause awaited now and then, with the number of connections since the last time, of the sample or not
   * @throws the signal's reason when aborted; otherwise why it is incomplete
   */
  walk(
    found: (flow: SeenFlow) => void,
    pause: (walked: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  table(): TrackedConnections;
  /** Idempotent. It may be opened again. */
  close(): void;
}
