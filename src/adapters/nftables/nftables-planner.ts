import type { Planner } from '../../application/ports/planner.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { compileNftables } from '../../domain/nftables/compile.js';
import { TableComposition } from '../../domain/nftables/composition.js';
import { renderTable } from '../../domain/nftables/render-text.js';
import { tableImage } from '../../domain/nftables/table-image.js';

/** Plans nftables mode: the table, as `nft -f` reads it. */
export class NftablesPlanner implements Planner {
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string {
    const composition = new TableComposition();
    for (const entry of entries) composition.replace(entry.key, compileNftables(entry));
    return renderTable(node.family, tableImage(composition, node));
  }
}
