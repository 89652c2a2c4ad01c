import { nftFamily } from '../../../src/domain/nftables/layout/table.js';
import type { Machine } from '../kernel/machine.js';
import { ForeignBatch } from '../kernel/nf-tables/foreign-batch.js';
import { FAMILY } from '../kernel/nf-tables/numbers.js';
import { STRANGER } from '../steps/foreign/deed.js';
import type { KubeProxyMode } from './kube-proxy-mode.js';
import { NftablesTable, TABLE } from './nftables-table.js';

const NUMBER = { IPv4: FAMILY.IP, IPv6: FAMILY.IP6 } as const;

/** kube-proxy in mode nftables. Each of its syncs is a full one, and as the first of its process. */
export const nftablesMode: KubeProxyMode = {
  sync(machine, family, ports, node) {
    const { nfTables, links } = machine;
    const batch = new ForeignBatch(nftFamily(family), TABLE);
    const table = new NftablesTable(batch, family, nfTables.view(NUMBER[family], TABLE));
    const stale = table.write(ports, links.isLocal(node.address) ? [node.address] : [], node.localNetwork);
    transact(machine, batch);
    if (stale.length === 0) return;
    const later = new ForeignBatch(nftFamily(family), TABLE);
    for (const chain of stale) later.deleteChain(chain);
    transact(machine, later);
  },
  // It looks once an hour.
  isDamaged: () => false,
  remove(machine, families) {
    for (const family of families)
      if (machine.nfTables.view(NUMBER[family], TABLE))
        transact(machine, new ForeignBatch(nftFamily(family), TABLE).deleteTable());
  },
};

/** @throws Error if the kernel rejects it: it is wrong, or what it is written over */
function transact({ nfTables }: Machine, batch: ForeignBatch): void {
  const errors = nfTables.transact(STRANGER, batch.end());
  if (errors.length > 0) throw new Error(`kube-proxy's transaction is refused: errors ${errors.join(', ')}`);
}
