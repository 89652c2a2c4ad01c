import type { Side } from '../../domain/compare/side.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { Walk } from '../../domain/walk/desired-walk.js';

/** The rules of one mode in one family: as text, and as packets pass through them. Changes nothing. */
export interface Tracer {
  /**
   * The rules that a proxy would write into an empty kernel, in the language of the tool that could load them; the text ends in a
   * line feed. Missing in userspace mode, whose rules contain ports that are chosen when it runs.
   */
  plan?(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<string>;
  /**
   * The rules that the entries make. They can be compared with others, except in userspace mode, where a process decides.
   * @param isLarge whether the cluster is so large that iptables mode shortens its rules; missing: decided by these entries
   */
  desired(
    entries: readonly ForwardingEntry[],
    node: NodeNetwork,
    isLarge?: boolean,
  ): Promise<Side> | Promise<Walk>;
  /** The rules as the kernel has them now. Throws a typed error where they cannot be read, and the signal's reason when it is aborted. */
  actual(signal?: AbortSignal): Promise<Walk>;
}
