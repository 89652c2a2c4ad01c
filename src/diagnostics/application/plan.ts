import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { FamilyContext } from '../../application/use-cases/sync.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';

/** Use case Plan: what a first sync would program for the known objects, family by family. Changes nothing. */
export function planFamilies(
  state: ClusterState,
  contexts: { of(family: IpFamily, refresh: boolean): FamilyContext },
  families: readonly IpFamily[],
  planner: Planner,
): string {
  return families
    .map((family) => {
      const { forwarding, network } = contexts.of(family, true);
      return planner.plan(ForwardingTable.of(state, forwarding).entries(), network);
    })
    .join('\n');
}

/**
 * Prints what a backend would program into an empty kernel, for one family, in the language of the tool that could load
 * it. Changes nothing. Throws only on values that decoding would have rejected.
 */
export interface Planner {
  /** The text ends in a line feed. */
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string;
}
