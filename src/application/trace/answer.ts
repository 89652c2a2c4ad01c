import type { Packet } from '../../domain/trace/packet.js';
import type { Step, Trace } from '../../domain/trace/trace.js';

/** What becomes of the packets of a query, and which packet was followed. */
export interface TraceAnswer extends Trace {
  readonly packet: Packet;
  /** Why packets are refused or dropped, all or some; for people. */
  readonly reason?: string;
  /** The rule of another program that refuses or drops them, if it is one. */
  readonly stoppedBy?: Step;
  /** What was assumed or chosen, and how the replies go; for people. */
  readonly remarks: readonly string[];
}
