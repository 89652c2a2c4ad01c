import type { Planner } from '../../application/ports/planner.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { compileNftables } from '../../../domain/nftables/compile.js';
import { rejectedProtocols } from '../../../domain/forwarding/rejected-protocols.js';
import { NftablesDesiredState } from '../../../domain/nftables/state/desired-state.js';
import { renderTable } from '../../../adapters/nftables/render-text.js';
import { desiredTable } from '../../../domain/nftables/state/desired-table.js';

/** Plans nftables mode: the table, as `nft -f` reads it. */
export class NftablesPlanner implements Planner {
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string {
    const desired = new NftablesDesiredState();
    const rejected = rejectedProtocols(node);
    for (const entry of entries) desired.replace(entry.key, compileNftables(entry, [], rejected));
    return renderTable(node.family, desiredTable(desired, node));
  }
}
