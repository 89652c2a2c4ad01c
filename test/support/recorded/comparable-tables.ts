import type { SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import type { RuleText } from '../../../src/domain/iptables/table.js';

/** Chains that hold an entry for each service, in an order that is kube-proxy's own chance. */
const SHARED = /^KUBE-(?:SERVICES|NODEPORTS|EXTERNAL-SERVICES|PROXY-FIREWALL)$/;
/** But what leads on to node ports stands behind all of them. */
const LAST = 'this must be the last rule in this chain';

/**
 * What of a family's tables is compared: the proxy's chains, and the rules of built-in ones. Chains that hold an entry for
 * each service are sorted, up to what must stand last.
 */
export function comparableTables(tables: SavedTables): Record<string, readonly RuleText[]> {
  const chains = tables.flatMap(({ name: table, chains }) =>
    chains
      .filter(({ name, rules }) => name.startsWith('KUBE-') || rules.length > 0)
      .map(
        ({ name, rules }) => [`${table} ${name}`, SHARED.test(name) ? sortedEntries(rules) : rules] as const,
      ),
  );
  return Object.fromEntries(chains.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function sortedEntries(rules: readonly RuleText[]): readonly RuleText[] {
  const first = rules.findIndex((rule) => rule.includes(LAST));
  const end = first < 0 ? rules.length : first;
  return [...rules.slice(0, end).sort(), ...rules.slice(end).sort()];
}
