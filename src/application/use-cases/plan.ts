import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { compileNftables } from '../../domain/nftables/compile.js';
import { TableComposition } from '../../domain/nftables/composition.js';
import { renderTable } from '../../domain/nftables/render-text.js';
import { tableImage } from '../../domain/nftables/table-image.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { FamilyContext } from '../sync/sync-family.js';

/** Use case Plan: the rules that a sync would write for what is known of the cluster, as nft text. Touches nothing. */
export function planNftables(
  state: ClusterState,
  contexts: { of(family: IpFamily, refresh: boolean): FamilyContext },
  families: readonly IpFamily[],
): string {
  return families
    .map((family) => {
      const { forwarding, network } = contexts.of(family, true);
      const table = new ForwardingTable();
      table.update(state, [...state.serviceKeys()].sort(), forwarding);
      const composition = new TableComposition();
      for (const entry of table.entries()) composition.replace(entry.key, compileNftables(entry));
      return renderTable(family, tableImage(composition, network));
    })
    .join('\n');
}
