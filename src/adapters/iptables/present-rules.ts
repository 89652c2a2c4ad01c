import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type {
  Chain,
  IptablesFragment,
  IptablesFrame,
  RuleText,
  SharedEntry,
} from '../../domain/iptables/table.js';

const SERVICE_CHAINS = /KUBE-(?:SVC|SVL|FW|EXT|SEP)-[A-Z0-9]+/g;

/** What an earlier process left in the tables, sorted by service port: the last good rules of those that are refused now. */
export class PresentRules {
  private readonly chains = new Map<string, readonly RuleText[]>();
  private readonly entries = new Map<string, SharedEntry[]>();

  constructor(saved: SavedTables, frame: IptablesFrame) {
    const shared = new Map(frame.shared.map((chain) => [`${chain.table} ${chain.name}`, chain]));
    for (const table of saved) {
      for (const { name, rules } of table.chains) {
        const chain = shared.get(`${table.name} ${name}`);
        if (chain) for (const rule of rules) this.noteEntry({ table: chain.table, chain: name, rule });
        else if (table.name === 'nat') this.chains.set(name, rules);
      }
    }
  }

  /** The chains of these names, those that they lead to, and the entries that name them. Undefined when there are none. */
  fragment({ chains: wanted }: IptablesFragment): IptablesFragment | undefined {
    const chains = new Map<string, Chain>();
    const names = wanted.map(({ name }) => name);
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const rules = this.chains.get(name);
      if (!rules || chains.has(name)) continue;
      chains.set(name, { table: 'nat', name, rules });
      for (const rule of rules) names.push(...(rule.match(SERVICE_CHAINS) ?? []));
    }
    if (chains.size === 0) return undefined;
    const entries = new Set([...chains.keys()].flatMap((name) => this.entries.get(name) ?? []));
    return { chains: [...chains.values()], entries: [...entries] };
  }

  private noteEntry(entry: SharedEntry): void {
    for (const name of entry.rule.match(SERVICE_CHAINS) ?? []) {
      const present = this.entries.get(name);
      if (present) present.push(entry);
      else this.entries.set(name, [entry]);
    }
  }
}
