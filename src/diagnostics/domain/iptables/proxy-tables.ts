import type { SavedTables } from '../../../domain/iptables/saved-tables.js';

const OURS = /^KUBE-/;
const LEADS_THERE = / ?-[jg] KUBE-/;

/** What service proxies, and the kubelet, have in these tables: their chains, and the rules of others that lead there. */
export function proxyTables(saved: SavedTables): SavedTables {
  return saved.map(({ name: table, chains }) => ({
    name: table,
    chains: chains.flatMap(({ name, policy, rules }) => {
      if (OURS.test(name)) return [{ name, policy, rules }];
      // A chain of another program is left to it, even if it leads there.
      if (policy === undefined) return [];
      return [{ name, policy: 'ACCEPT', rules: rules.filter((rule) => LEADS_THERE.test(rule)) }];
    }),
  }));
}
