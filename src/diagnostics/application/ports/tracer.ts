import type { Side } from '../../domain/compare/side.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { Packet, PacketEnvironment, TracedEnding } from '../../domain/trace/trace.js';

/** Follows packets through the rules of one family in one mode. Changes nothing. */
export interface Tracer {
  /** As they should be: compiled from the entries. */
  desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Walk | Promise<Walk>;
  /** As the kernel has them now. Throws a typed error where they cannot be read, and the signal's reason when it is aborted. */
  actual(signal?: AbortSignal): Promise<Walk>;
  /** All rules that the entries make, to be compared with others. Missing where the mode has a process that decides. */
  planned?(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side>;
}

/** Rules that packets can be sent through, any number of them. */
export interface Walk {
  /** Every ending that the packet may have. Rejects with a typed error where the kernel must be asked and does not answer. */
  walk(
    packet: Packet,
    environment: PacketEnvironment,
  ): readonly TracedEnding[] | Promise<readonly TracedEnding[]>;
}
