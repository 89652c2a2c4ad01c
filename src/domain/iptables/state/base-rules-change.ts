import isEqual from 'fast-deep-equal';
import type { Chain, BaseRules, RuleText, SharedChain } from '../table.js';

/** What turns base rules into others: when the node's addresses, the mark or the host's counters changed. */
export interface BaseRulesChange {
  /** Chains to empty and fill with these rules. */
  readonly chains: readonly Chain[];
  /** Rules to take from the end of shared chains and to put there, in order. */
  readonly tails: readonly {
    readonly chain: SharedChain;
    readonly removed: readonly RuleText[];
    readonly added: readonly RuleText[];
  }[];
}

/** Chains that only the former base rules have stay as they are: other programs may use them (docs/spec/iptables.md §5.4). */
export function baseRulesChange(before: BaseRules, after: BaseRules): BaseRulesChange {
  return {
    chains: after.chains.filter(
      (chain) => !isEqual(before.chains.find(sameChain(chain))?.rules, chain.rules),
    ),
    tails: after.shared.flatMap((chain) => {
      const removed = before.shared.find(sameChain(chain))?.after ?? [];
      return isEqual(removed, chain.after) ? [] : [{ chain, removed, added: chain.after }];
    }),
  };
}

function sameChain({
  table,
  name,
}: Pick<Chain, 'table' | 'name'>): (other: Pick<Chain, 'table' | 'name'>) => boolean {
  return (other) => other.table === table && other.name === name;
}
