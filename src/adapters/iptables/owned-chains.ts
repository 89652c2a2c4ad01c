/** The chains and jumps that belong to a mode, and their removal. */

import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { iptablesBaseRules, BLOCK_LOCALNET } from '../../domain/iptables/base-rules.js';
import { FIREWALL, isServiceChain } from '../../domain/iptables/chain-names.js';
import { savedRules, type SavedTables, type SavedChain } from '../../domain/iptables/saved-tables.js';
import type { BaseRules, Jump, TableName } from '../../domain/iptables/table.js';
import { removeChains, RestoreScript } from './restore-script.js';

/** The chains and jumps of a mode, independent of services. */
export interface OwnedChains {
  readonly jumps: readonly Jump[];
  readonly chains: Readonly<Record<TableName, readonly string[]>>;
  /** It has chains for each service, too. */
  readonly serviceChains: boolean;
}

/** Some node and host: they decide about rules, and but for KUBE-FIREWALL not about which chains there are. */
export const ANY_NODE: NodeNetwork = {
  family: 'IPv4',
  detector: undefined,
  masqueradeBit: 0,
  masqueradeAll: false,
  nodePortIPs: 'all',
  serviceCIDRs: [],
};
export const ANY_HOST = { randomFully: false, tcpLiberal: true, counters: new Set<never>() };

/** Chains and jumps of a mode with these base rules. */
export function ownedChains({ chains, shared, jumps }: BaseRules, serviceChains: boolean): OwnedChains {
  const all = [...chains, ...shared];
  const namesIn = (table: TableName) => all.filter((chain) => chain.table === table).map(({ name }) => name);
  return {
    jumps,
    chains: { nat: namesIn('nat'), filter: namesIn('filter'), mangle: namesIn('mangle') },
    serviceChains,
  };
}

const OWNED = ownedChains(iptablesBaseRules(ANY_NODE, ANY_HOST), true);

/** Chains and jumps of iptables mode, except KUBE-FIREWALL: see `judgeFirewall`. */
export const IPTABLES_OWNED_CHAINS: OwnedChains = {
  ...OWNED,
  jumps: OWNED.jumps.filter(({ rule }) => !rule.endsWith(`-j ${FIREWALL}`)),
};

/** The same with KUBE-FIREWALL. */
const OWNED_WITH_FIREWALL = ownedChains(
  iptablesBaseRules({ ...ANY_NODE, localhostNodePorts: true }, ANY_HOST),
  true,
);

/** Chains and jumps of one mode that the other does not have. */
export function ownedAlone(owned: OwnedChains, other: OwnedChains): OwnedChains {
  const chainsIn = (table: TableName) =>
    owned.chains[table].filter((name) => !other.chains[table].includes(name));
  return {
    ...owned,
    jumps: owned.jumps.filter((jump) => !other.jumps.some((its) => sameJump(jump, its))),
    chains: { nat: chainsIn('nat'), filter: chainsIn('filter'), mangle: chainsIn('mangle') },
  };
}

function sameJump(one: Jump, other: Jump): boolean {
  return one.table === other.table && one.chain === other.chain && one.rule === other.rule;
}

/** Whether a chain is one of a mode's. */
export function isOwned({ chains, serviceChains }: OwnedChains, table: string, name: string): boolean {
  const named: Readonly<Record<string, readonly string[]>> = chains;
  return named[table]?.includes(name) === true || (serviceChains && table === 'nat' && isServiceChain(name));
}

/** Chains that only a kubelet creates. */
const KUBELET_CHAINS = ['KUBE-KUBELET-CANARY', 'KUBE-IPTABLES-HINT'];

/** Whether any of these chains of the kernel is a proxy's, by its name. */
export function holdsProxyChains(names: readonly string[]): boolean {
  return proxyChains(names).length > 0;
}

/** Those of these chains that are a proxy's, by their names. */
export function proxyChains(names: readonly string[]): readonly string[] {
  const ofKubelet = names.some(isKubelets);
  return names.filter(
    (name) => name.startsWith('KUBE-') && !isKubelets(name) && !(ofKubelet && name === FIREWALL),
  );
}

/** The decision about KUBE-FIREWALL when iptables mode is removed: the kubelet creates it, too, and it may protect the node. */
type FirewallVerdict = 'absent' | 'unneeded' | 'protects' | 'not ours';

/**
 * @param routesLocalnet whether the kernel lets packets for 127.0.0.0/8 in, from which the chain protects: the proxy has set it,
 *   and cannot determine whether another program had before
 */
export function judgeFirewall(saved: SavedTables, routesLocalnet: boolean): FirewallVerdict {
  const rules = savedRules(saved, 'filter', FIREWALL);
  if (!rules) return 'absent';
  if (rules.length === 0) return 'unneeded';
  const ofKubelet = saved.some(({ chains }) => chains.some(({ name }) => isKubelets(name)));
  if (ofKubelet || rules.some((rule) => rule !== BLOCK_LOCALNET)) return 'not ours';
  return routesLocalnet ? 'protects' : 'unneeded';
}

/** Removable chains and jumps of iptables mode: KUBE-FIREWALL only if nothing needs it. */
export function removableChains(verdict: FirewallVerdict): OwnedChains {
  return verdict === 'unneeded' ? OWNED_WITH_FIREWALL : IPTABLES_OWNED_CHAINS;
}

function isKubelets(name: string): boolean {
  return KUBELET_CHAINS.includes(name);
}

const TARGET = /-j (KUBE-\S+)$/;

/** Rules of modes in built-in chains. */
const MODES_JUMP = /--comment "kube(?:rnetes|-proxy) .*" -j KUBE-/;

/**
 * Removes everything of a mode (docs/internals/spec/iptables.md §18): for each table first the jumps, then the chains, so that a
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
