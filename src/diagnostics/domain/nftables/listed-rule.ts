import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { Place } from '../walk/packet-state.js';
import type { Chain } from '../walk/chain-walk.js';
import type {
  Expression,
  KernelChain,
  KernelRule,
  KernelTable,
} from '../../../domain/nftables/kernel/ruleset.js';
import { isOurs } from './kernel-packet-state.js';
import { ruleText } from '../../../domain/nftables/kernel/rule-text.js';
import { getOrMake } from '../../../domain/model/maps.js';

/** A rule in its chain, to walk through. */
export class ListedRule implements Place {
  readonly foreign?: true;
  private text: string | undefined;

  constructor(
    private readonly listed: KernelRule,
    readonly table: KernelTable,
    private readonly chain: KernelChain,
    private readonly family: IpFamily,
  ) {
    if (!isOurs(table)) this.foreign = true;
  }

  get where(): string {
    return placeIn(this.table, this.chain);
  }

  /** As nft lists it. */
  get rule(): string {
    return (this.text ??= ruleText(this.listed, this.family));
  }

  get expressions(): readonly Expression[] {
    return this.listed.expressions;
  }
}

/** The chains that packets came to so far. */
export class ListedChains {
  private readonly chains = new Map<KernelChain, Chain<ListedRule>>();

  constructor(private readonly family: IpFamily) {}

  of(table: KernelTable, chain: KernelChain): Chain<ListedRule> {
    return getOrMake(this.chains, chain, () => ({
      rules: chain.rules.map((rule) => new ListedRule(rule, table, chain, this.family)),
    }));
  }
}

/** The verdict of a base chain for packets without a verdict of a rule; undefined if they continue. */
export function policyOf(table: KernelTable, chain: KernelChain): Place | undefined {
  if (chain.hook?.policy !== 'drop') return undefined;
  return { where: placeIn(table, chain), rule: 'policy drop', ...(!isOurs(table) && { foreign: true }) };
}

function placeIn({ family, name }: KernelTable, chain: KernelChain): string {
  return `${family} ${name} ${chain.name}`;
}
