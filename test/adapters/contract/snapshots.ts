import type { SavedChain, SavedTables } from '../../../src/domain/iptables/saved-tables.js';

/**
 * Rules of service ports in any order, without proxy ports, which are the kernel's choice; without KUBE-FIREWALL, which
 * is the kubelet's too and stays; and without empty built-in chains, which tools make when they please.
 */
export function iptablesSnapshot(saved: SavedTables): unknown {
  return saved
    .flatMap(({ name: table, chains }) =>
      chains
        .filter(({ name }) => name !== 'KUBE-FIREWALL')
        .map((chain) => ({ ...chain, rules: rulesOf(chain) }))
        .filter(({ policy, rules }) => policy === undefined || rules.length > 0)
        .map(({ name, rules }) => [`${table} ${name}`, rules] as const),
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function rulesOf({ name, rules }: SavedChain): readonly string[] {
  const shown = rules
    .filter((rule) => !rule.endsWith('-j KUBE-FIREWALL'))
    .map((rule) =>
      rule
        .replace(/(DNAT --to-destination (?:127\.0\.0\.1|\[::1\])):\d+$/, '$1')
        .replace(/--dport \d+( -m state --state NEW -j ACCEPT)$/, '$1'),
    );
  return /^KUBE-(?!SVC|SVL|SEP|FW|EXT)/.test(name) ? shown.sort() : shown;
}
