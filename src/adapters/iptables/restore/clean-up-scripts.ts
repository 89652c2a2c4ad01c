import type { SavedChain, SavedTables } from '../../../domain/iptables/text/saved-tables.js';
import { removeChains } from './chain-lines.js';
import { IPTABLES_OWNED_CHAINS, isOwned, sameJump, type OwnedChains } from './owned-chains.js';
import { RestoreScript } from './restore-script.js';

const TARGET = /-j (KUBE-\S+)$/;
/** What modes write into built-in chains. */
const MODES_JUMP = /--comment "kube(?:rnetes|-proxy) .*" -j KUBE-/;

/**
 * Removes everything of a mode (docs/spec/iptables.md §18): for each table first the jumps, then the chains, so that a
 * rule of another program that leads to a chain keeps no jump. A chain to which rules of another mode still lead is left
 * empty: that mode's clean-up removes it.
 * @param kept what the active mode makes in the same tables; it stays
 */
export function cleanUpScripts(
  saved: SavedTables,
  owned = IPTABLES_OWNED_CHAINS,
  kept?: OwnedChains,
  chainsPerCommit = Infinity,
): readonly RestoreScript[] {
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => {
    const chains = saved.find(({ name }) => name === table)?.chains ?? [];
    const jumps = owned.jumps.filter(
      (jump) => jump.table === table && !kept?.jumps.some((other) => sameJump(jump, other)),
    );
    const ours = chains
      .map(({ name }) => name)
      .filter((name) => isOwned(owned, table, name) && !(kept && isOwned(kept, table, name)));
    const referenced = referencedByOthers(chains, ours, owned);
    return [
      new RestoreScript(function* (lines) {
        for (const { chain, rule } of jumps) {
          const present = chains.find(({ name }) => name === chain)?.rules ?? [];
          for (const actual of present) if (actual === rule) lines.delete(table, chain, rule);
          yield;
        }
      }),
      new RestoreScript((lines) =>
        removeChains(
          lines,
          ours.map((name) => ({ table, name, isKept: referenced.has(name) })),
          chainsPerCommit,
        ),
      ),
    ];
  });
}

/** The chains to which rules of another mode lead. */
function referencedByOthers(
  chains: readonly SavedChain[],
  ours: readonly string[],
  { jumps }: OwnedChains,
): ReadonlySet<string | undefined> {
  const own = new Set(ours);
  const others = chains.flatMap(({ name, policy, rules }) =>
    policy === undefined
      ? rules.filter(() => name.startsWith('KUBE-') && !own.has(name))
      : rules.filter((rule) => MODES_JUMP.test(rule) && !jumps.some((jump) => jump.rule === rule)),
  );
  return new Set(others.map((rule) => TARGET.exec(rule)?.[1]));
}
