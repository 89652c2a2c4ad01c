import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { FIREWALL, isServiceChain } from '../../../domain/iptables/chain-names.js';
import { iptablesBaseRules } from '../../../domain/iptables/compile/base-rules.js';
import type { SavedChain, SavedTables } from '../../../domain/iptables/text/saved-tables.js';
import type { BaseRules, Jump, TableName } from '../../../domain/iptables/table.js';
import { removeChains } from './chain-lines.js';
import { RestoreScript } from './restore-script.js';

const TARGET = /-j (KUBE-\S+)$/;
/** What modes write into built-in chains. */
const MODES_JUMP = /--comment "kube(?:rnetes|-proxy) .*" -j KUBE-/;

/** The chains and jumps that a mode makes, whatever services there are. */
export interface OwnedChains {
  readonly jumps: readonly Jump[];
  readonly chains: Readonly<Record<TableName, readonly string[]>>;
  /** It has chains for each service, too. */
  readonly serviceChains: boolean;
}

/** Some node and host: they decide about rules, and not about which chains there are. */
export const ANY_NODE: NodeNetwork = {
  family: 'IPv4',
  detector: undefined,
  masqueradeBit: 0,
  masqueradeAll: false,
  nodePortIPs: 'all',
  serviceCIDRs: [],
};
export const ANY_HOST = { randomFully: false, tcpLiberal: true, counters: new Set<never>() };

/** What a mode makes that has these base rules. */
export function ownedChains({ chains, shared, jumps }: BaseRules, serviceChains: boolean): OwnedChains {
  const all = [...chains, ...shared];
  const namesIn = (table: TableName) => all.filter((chain) => chain.table === table).map(({ name }) => name);
  return {
    jumps,
    chains: { nat: namesIn('nat'), filter: namesIn('filter'), mangle: namesIn('mangle') },
    serviceChains,
  };
}

const WITH_FIREWALL = ownedChains(iptablesBaseRules(ANY_NODE, ANY_HOST), true);

/** What mode iptables makes, but KUBE-FIREWALL: see `judgeFirewall`. */
export const IPTABLES_OWNED_CHAINS: OwnedChains = {
  ...WITH_FIREWALL,
  jumps: WITH_FIREWALL.jumps.filter(({ rule }) => !rule.endsWith(`-j ${FIREWALL}`)),
};

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

/** Whether a chain is one of a mode's. */
export function isOwned({ chains, serviceChains }: OwnedChains, table: string, name: string): boolean {
  const named: Readonly<Record<string, readonly string[]>> = chains;
  return named[table]?.includes(name) === true || (serviceChains && table === 'nat' && isServiceChain(name));
}

function sameJump(one: Jump, other: Jump): boolean {
  return one.table === other.table && one.chain === other.chain && one.rule === other.rule;
}
