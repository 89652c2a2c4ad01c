import { SERVICE_CHAIN_KINDS, ServiceChainNames } from '../../domain/iptables/chain-names.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type {
  Chain,
  IptablesFragment,
  IptablesFrame,
  RuleText,
  SharedEntry,
} from '../../domain/iptables/table.js';
import { displayName, type ServicePortName } from '../../domain/model/service-port-name.js';

const SERVICE_CHAINS = /KUBE-(?:SVC|SVL|FW|EXT|SEP)-[A-Z0-9]+/g;
/** Comments of entries begin with the service port. */
const COMMENT = /--comment "?([^" ]+)/;

interface Index {
  readonly chains: ReadonlyMap<string, readonly RuleText[]>;
  /** By the name of the service port. */
  readonly entries: ReadonlyMap<string, readonly SharedEntry[]>;
}

/** What an earlier process left in the tables, by service port: the last good rules of those that cannot be programmed now. */
export class PresentRules {
  private index: Index | undefined;

  constructor(
    private readonly saved: SavedTables,
    private readonly frame: IptablesFrame,
  ) {}

  /** The service port's chains, those that they lead to, and its entries. Undefined when there are none. */
  fragment(name: ServicePortName): IptablesFragment | undefined {
    this.index ??= indexOf(this.saved, this.frame);
    const names = new ServiceChainNames(name);
    const open: string[] = SERVICE_CHAIN_KINDS.map((kind) => names.of(kind));
    const chains = new Map<string, Chain>();
    for (let chain = open.pop(); chain !== undefined; chain = open.pop()) {
      const rules = this.index.chains.get(chain);
      if (!rules || chains.has(chain)) continue;
      chains.set(chain, { table: 'nat', name: chain, rules });
      for (const rule of rules) open.push(...(rule.match(SERVICE_CHAINS) ?? []));
    }
    const entries = this.index.entries.get(displayName(name)) ?? [];
    if (chains.size === 0 && entries.length === 0) return undefined;
    return { chains: [...chains.values()], entries };
  }
}

function indexOf(saved: SavedTables, frame: IptablesFrame): Index {
  const shared = new Map(frame.shared.map((chain) => [`${chain.table} ${chain.name}`, chain]));
  const chains = new Map<string, readonly RuleText[]>();
  const entries = new Map<string, SharedEntry[]>();
  const note = (entry: SharedEntry): void => {
    const name = COMMENT.exec(entry.rule)?.[1] ?? '';
    const present = entries.get(name);
    if (present) present.push(entry);
    else entries.set(name, [entry]);
  };
  for (const table of saved) {
    for (const { name, rules } of table.chains) {
      const chain = shared.get(`${table.name} ${name}`);
      if (chain) for (const rule of rules) note({ table: chain.table, chain: name, rule });
      else if (table.name === 'nat') chains.set(name, rules);
    }
  }
  return { chains, entries };
}
