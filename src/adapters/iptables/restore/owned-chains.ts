import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { FIREWALL, isServiceChain } from '../../../domain/iptables/chain-names.js';
import { iptablesBaseRules } from '../../../domain/iptables/compile/base-rules.js';
import type { BaseRules, Jump, TableName } from '../../../domain/iptables/table.js';

/** The chains and jumps that a mode makes, whatever services there are. */
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

const OWNED = ownedChains(iptablesBaseRules(ANY_NODE, ANY_HOST), true);

/** What mode iptables makes, but KUBE-FIREWALL: see `judgeFirewall`. */
export const IPTABLES_OWNED_CHAINS: OwnedChains = {
  ...OWNED,
  jumps: OWNED.jumps.filter(({ rule }) => !rule.endsWith(`-j ${FIREWALL}`)),
};

/** The same with KUBE-FIREWALL. */
export const OWNED_WITH_FIREWALL = ownedChains(
  iptablesBaseRules({ ...ANY_NODE, localhostNodePorts: true }, ANY_HOST),
  true,
);

/** What one mode makes and the other does not. */
export function ownedAlone(owned: OwnedChains, other: OwnedChains): OwnedChains {
  const chainsIn = (table: TableName) =>
    owned.chains[table].filter((name) => !other.chains[table].includes(name));
  return {
    ...owned,
    jumps: owned.jumps.filter((jump) => !other.jumps.some((its) => sameJump(jump, its))),
    chains: { nat: chainsIn('nat'), filter: chainsIn('filter'), mangle: chainsIn('mangle') },
  };
}

export function sameJump(one: Jump, other: Jump): boolean {
  return one.table === other.table && one.chain === other.chain && one.rule === other.rule;
}

/** Whether a chain is one of a mode's. */
export function isOwned({ chains, serviceChains }: OwnedChains, table: string, name: string): boolean {
  const named: Readonly<Record<string, readonly string[]>> = chains;
  return named[table]?.includes(name) === true || (serviceChains && table === 'nat' && isServiceChain(name));
}
