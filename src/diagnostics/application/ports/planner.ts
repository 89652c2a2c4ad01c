import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';

/**
 * Prints what a backend would program into an empty kernel, for one family, in the language of the tool that could load
 * it. Changes nothing. Throws only on values that decoding would have rejected.
 */
export interface Planner {
  /** The text ends in a line feed. */
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string;
}
