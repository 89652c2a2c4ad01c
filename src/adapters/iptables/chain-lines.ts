import type { Chain } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { RestoreScript } from './restore-script.js';

interface ChainToWrite {
  readonly chain: Chain;
  readonly owner?: ServicePortKey | undefined;
}

/**
 * Empties the chains, or makes them, and fills them: all declared before any rule, since rules lead from one to another
 * of the same owner. Chains of one owner, which must stand together, share a commit.
 */
export function writeChains(
  script: RestoreScript,
  chains: readonly ChainToWrite[],
  chainsPerCommit: number,
): void {
  for (let start = 0; start < chains.length;) {
    let end = start + 1;
    while (
      end < chains.length &&
      (end - start < chainsPerCommit || chains[end]!.owner === chains[end - 1]!.owner)
    )
      end++;
    const group = chains.slice(start, end);
    if (start > 0) script.commit();
    for (const { chain, owner } of group) script.declare(chain.table, chain.name, owner);
    for (const { chain, owner } of group)
      for (const rule of chain.rules) script.append(chain.table, chain.name, rule, owner);
    start = end;
  }
}
