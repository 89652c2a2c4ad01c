/** The tables that the iptables mode writes to. */
export type TableName = 'mangle' | 'filter' | 'nat';

/** The table in which service ports have chains of their own. */
export const OWNED_TABLE: TableName = 'nat';

/** A rule as iptables-save prints it after `-A CHAIN `: canonical, so that equal rules have equal texts. */
export type RuleText = string;

/** A chain and all its rules, in order. */
export interface Chain {
  readonly table: TableName;
  readonly name: string;
  readonly rules: readonly RuleText[];
  /** How many rules there are, where counting costs less than making them. */
  readonly size?: number;
  /** Identifies it among those of its service port, where that costs less than making the name. All of one have it, or none. */
  readonly id?: string;
  /** The inputs of the rules, if there is an id: the rules differ exactly when these differ. */
  readonly origin?: string;
}

/** The changes of the chains of a service port when its rules are replaced. */
export interface ChainsChange<C = Chain> {
  /** New, or with other rules: each must be emptied and filled with these. */
  readonly written: readonly C[];
  /** The service port has them no more. Rules that jump to them go in the same batch. */
  readonly removed: readonly C[];
}

/** A rule in a chain that holds one entry for each service; the order of such entries means nothing. */
export interface SharedEntry {
  readonly table: TableName;
  readonly chain: string;
  readonly rule: RuleText;
  /**
   * Which packets it is about, as people call them: `10.96.0.10:53/UDP`. Entries of one chain that are about the same
   * packets have an order: that of their service ports, and within one of them that of its rules. Undefined where order means
   * nothing.
   */
  readonly frontend?: string;
}

/**
 * Everything that one service port puts into the tables of its family. The names of its chains contain its hash, so no
 * other service port has them; shared chains end with what the base rules say must stand last.
 */
export interface IptablesServicePortRules {
  /**
   * Chains of table nat that are this service port's alone. They are most of what the tables hold, and needed only while
   * they are compared or written; so they may be computed again for each call.
   */
  readonly chains: readonly Chain[];
  readonly entries: readonly SharedEntry[];
}

/**
 * The parts of the node, not of a service: chains with fixed rules, the rules at the end of shared
 * chains, and the jumps that stand at fixed places in built-in chains.
 */
export interface BaseRules {
  readonly chains: readonly Chain[];
  readonly shared: readonly SharedChain[];
  /** In the order in which a chain that has none of them gets them, each at its place. */
  readonly jumps: readonly Jump[];
  /** Chains that must exist, but whose rules belong to another program. */
  readonly unmanagedChains: readonly Pick<Chain, 'table' | 'name'>[];
}

/** A chain of the entries of services. */
export interface SharedChain {
  readonly table: TableName;
  readonly name: string;
  /** The rules at its end. */
  readonly after: readonly RuleText[];
}

/** A rule in a built-in chain. */
export interface Jump {
  readonly table: TableName;
  readonly chain: string;
  readonly rule: RuleText;
  /** At the head of the chain, or at its end. */
  readonly place: 'first' | 'last';
}

/** How many rules the chains have. */
export function rulesInChains(chains: readonly Chain[]): number {
  return chains.reduce((sum, chain) => sum + (chain.size ?? chain.rules.length), 0);
}
