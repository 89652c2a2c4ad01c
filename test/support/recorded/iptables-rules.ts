import type { DesiredTables } from '../../../src/domain/iptables/desired-state.js';
import { savedRules, type SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import { allChains, isHeld } from '../iptables/tables-in-memory.js';

/** Expects the chains, rules and jumps of desired tables to be those that were recorded, by the rules of comparison. */
export function expectRecorded(desired: DesiredTables, recorded: SavedTables): void {
  const { unmanagedChains, jumps } = desired.baseRules;
  const chains = allChains(desired);
  const names = recorded.flatMap(({ name, chains: all }) => all.map((chain) => `${name} ${chain.name}`));
  expect([...chains, ...unmanagedChains].map(({ table, name }) => `${table} ${name}`).sort()).toEqual(
    names.filter((name) => / KUBE-/.test(name)).sort(),
  );
  for (const chain of chains) {
    const rules = savedRules(recorded, chain.table, chain.name)!;
    if (!isHeld(chain, rules)) expect(chain.rules).toEqual(rules);
  }
  for (const { table, chain } of jumps) {
    const placed = jumps.filter((jump) => jump.table === table && jump.chain === chain);
    expect(placed.map(({ rule }) => rule).reverse()).toEqual(savedRules(recorded, table, chain));
  }
}
