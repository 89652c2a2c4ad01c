import {
  CANARY,
  EXTERNAL_SERVICES,
  FIREWALL,
  FORWARD,
  isServiceChain,
  MARK_MASQ,
  NODE_PORTS,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
} from '../../domain/iptables/chain-names.js';
import { JUMPS } from '../../domain/iptables/frame.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type { TableName } from '../../domain/iptables/table.js';
import { RestoreScript } from './restore-script.js';

const CHAINS: Readonly<Record<TableName, readonly string[]>> = {
  nat: [SERVICES, NODE_PORTS, POSTROUTING, MARK_MASQ, CANARY],
  filter: [SERVICES, EXTERNAL_SERVICES, FORWARD, NODE_PORTS, PROXY_FIREWALL, CANARY],
  mangle: [CANARY],
};

/**
 * What removes everything of this mode (spec/iptables.md §18): for each table first the jumps, then the chains, so that
 * a stranger's rule that holds on to a chain keeps no jump. KUBE-FIREWALL is the kubelet's too, and stays.
 */
export function cleanUpScripts(saved: SavedTables): readonly RestoreScript[] {
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => {
    const chains = saved.find(({ name }) => name === table)?.chains ?? [];
    const jumps = new RestoreScript();
    for (const { chain, rule } of JUMPS.filter((jump) => jump.table === table)) {
      if (rule.endsWith(`-j ${FIREWALL}`)) continue;
      const present = chains.find(({ name }) => name === chain)?.rules ?? [];
      for (const actual of present) if (actual === rule) jumps.delete(table, chain, rule);
    }
    const removal = new RestoreScript();
    const ours = chains
      .map(({ name }) => name)
      .filter((name) => CHAINS[table].includes(name) || (table === 'nat' && isServiceChain(name)));
    for (const name of ours) removal.declare(table, name);
    for (const name of ours) removal.remove(table, name);
    return [jumps, removal].filter((script) => !script.isEmpty);
  });
}
