import type { Packet } from '../../domain/trace/packet.js';
import type { Trace } from '../../domain/trace/trace.js';

/** What becomes of the packets of a query, and which packet was followed. */
export interface TraceAnswer extends Trace {
  readonly packet: Packet;
  /** What was assumed or chosen, and how the replies go; for people. */
  readonly remarks: readonly string[];
}
