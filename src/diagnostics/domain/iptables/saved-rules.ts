import type { SavedChain, SavedTables } from '../../../domain/iptables/saved-tables.js';
import { type ListedRules, type WalkedChain, WalkedRule } from './rule.js';
import { getOrMake } from '../../../domain/model/maps.js';

/** Which chains a mode has. */
export type OwnChains = (table: string, chain: string) => boolean;

/** The tables as the kernel has them. Rules in chains of others, which lead to no chain of the mode, are foreign. */
export class SavedRules implements ListedRules {
  private readonly saved = new Map<string, SavedChain>();
  private readonly walked = new Map<string, WalkedChain>();

  constructor(
    tables: SavedTables,
    private readonly isOwn: OwnChains,
  ) {
    for (const { name: table, chains } of tables)
      for (const chain of chains) this.saved.set(keyOf(table, chain.name), chain);
  }

  chain(table: string, name: string): WalkedChain | undefined {
    const key = keyOf(table, name);
    const saved = this.saved.get(key);
    return saved && getOrMake(this.walked, key, () => this.walkedChain(table, saved));
  }

  *all(): Generator<WalkedChain> {
    for (const key of this.saved.keys()) {
      const [table, name] = key.split(' ') as [string, string];
      yield this.chain(table, name)!;
    }
  }

  private walkedChain(table: string, { name, policy, rules }: SavedChain): WalkedChain {
    const ownsChain = this.isOwn(table, name);
    const walkedRule = (text: string): WalkedRule => {
      const isForeign = !ownsChain && !this.isOwn(table, TARGET.exec(text)?.[1] ?? '');
      return isForeign
        ? new WalkedRule(table, name, text, undefined, true)
        : new WalkedRule(table, name, text, ABOUT.exec(text)?.[1]);
    };
    return { rules: rules.map(walkedRule), ...(policy === 'DROP' && { drops: true }) };
  }
}

const TARGET = / ?-[jg] (\S+)/;
/** Rules with a protocol about a service port name it at the beginning of their comment. */
const ABOUT = /(?:^| )-p (?:tcp|udp|sctp) .*?--comment "([a-z0-9-]+\/[a-z0-9-]+(?::[a-z0-9-]+)?)[" ]/;

function keyOf(table: string, chain: string): string {
  return `${table} ${chain}`;
}

const OURS = /^KUBE-/;
const LEADS_THERE = / ?-[jg] KUBE-/;

/** What service proxies, and the kubelet, have in these tables: their chains, and the rules of others that lead there. */
export function proxyTables(saved: SavedTables): SavedTables {
  return saved.map(({ name: table, chains }) => ({
    name: table,
    chains: chains.flatMap(({ name, policy, rules }) => {
      if (OURS.test(name)) return [{ name, policy, rules }];
      // A chain of another program is left to it, even if it leads there.
      if (policy === undefined) return [];
      return [{ name, policy: 'ACCEPT', rules: rules.filter((rule) => LEADS_THERE.test(rule)) }];
    }),
  }));
}
