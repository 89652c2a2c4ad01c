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
import { removeChains } from './chain-lines.js';
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
export function cleanUpScripts(saved: SavedTables, chainsPerCommit: number): readonly RestoreScript[] {
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => {
    const present = saved.find(({ name }) => name === table)?.chains ?? [];
    const ours = present.filter(
      ({ name }) => CHAINS[table].includes(name) || (table === 'nat' && isServiceChain(name)),
    );
    const jumps = JUMPS.filter((jump) => jump.table === table && !jump.rule.endsWith(`-j ${FIREWALL}`));
    return [
      new RestoreScript(function* (lines) {
        for (const { chain, rule } of jumps) {
          const rules = present.find(({ name }) => name === chain)?.rules ?? [];
          for (const actual of rules) if (actual === rule) lines.delete(table, chain, rule);
          yield;
        }
      }),
      new RestoreScript((lines) =>
        removeChains(
          lines,
          ours.map(({ name }) => ({ table, name })),
          chainsPerCommit,
        ),
      ),
    ];
  });
}
