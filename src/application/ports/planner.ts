import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';

/**
 * Writes down what a backend would program into a kernel that has nothing of it, for one family, in the language of the
 * tool that could load it. Touches nothing. Throws only on values that decoding would have rejected.
 */
export interface Planner {
  /** The text ends in a line feed. */
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string;
}
