import { SERVICE_CHAIN_KINDS, ServiceChainNames } from '../chain-names.js';
import type { SavedTables } from '../text/saved-tables.js';
import type {
  Chain,
  IptablesServicePortRules,
  BaseRules,
  RuleText,
  SharedEntry,
  TableName,
} from '../table.js';
import { protocolOfNumber } from '../../model/protocol-number.js';
import { displayName, type Protocol, type ServicePortName } from '../../model/service-port-name.js';
import { hostPort } from '../../net/address.js';

const SERVICE_CHAINS = /KUBE-(?:SVC|SVL|FW|EXT|SEP)-[A-Z0-9]+/g;
/** Comments of entries begin with the service port: its namespace, name and, if it has one, port. */
const COMMENT = /--comment "?(([^"/ ]+)\/([^":/ ]+)(?::([^" ]+))?)/;
/** Rules for health checks are about no frontend. */
const FRONTEND = /^(?:-d (\S+)\/(?:32|128) )?.*-p (\w+) .*--dport (\d+) (?!.*-j ACCEPT$)/;
const PROTOCOL = /-p (tcp|udp|sctp) /;
/** An entry of mode ipvs, which has no comment: all that it names is the frontend. */
const VIRTUAL_SERVER = / -m ipvs --vproto (6|17|132) --vaddr (\S+) --vport (\d+) /;

interface Index {
  readonly chains: ReadonlyMap<string, readonly RuleText[]>;
  /** By the name of the service port. */
  readonly entries: ReadonlyMap<string, readonly SharedEntry[]>;
  readonly servicePorts: readonly ServicePortName[];
}

/** What an earlier process left in the tables, by service port: the last good rules of those that cannot be programmed now. */
export class IptablesAdoptedRules {
  private index: Index | undefined;

  constructor(
    private readonly saved: SavedTables,
    private readonly frame: BaseRules,
  ) {}

  /** Those that have entries. Of two that differ only in their protocol, one: they share what `fragment` finds. */
  servicePorts(): readonly ServicePortName[] {
    this.index ??= indexOf(this.saved, this.frame);
    return this.index.servicePorts;
  }

  /** The service port's chains, those that it leads to, and its entries. Undefined when there are none. */
  fragment(name: ServicePortName): IptablesServicePortRules | undefined {
    this.index ??= indexOf(this.saved, this.frame);
    const entries = this.index.entries.get(displayName(name)) ?? [];
    const names = new ServiceChainNames(name);
    const open: string[] = SERVICE_CHAIN_KINDS.map((kind) => names.of(kind));
    for (const { rule } of entries) open.push(...(rule.match(SERVICE_CHAINS) ?? []));
    const chains = new Map<string, Chain>();
    for (let chain = open.pop(); chain !== undefined; chain = open.pop()) {
      const rules = this.index.chains.get(chain);
      if (!rules || chains.has(chain)) continue;
      chains.set(chain, { table: 'nat', name: chain, rules });
      for (const rule of rules) open.push(...(rule.match(SERVICE_CHAINS) ?? []));
    }
    if (chains.size === 0 && entries.length === 0) return undefined;
    return { chains: [...chains.values()], entries };
  }
}

function indexOf(saved: SavedTables, frame: BaseRules): Index {
  const shared = new Map(frame.shared.map((chain) => [`${chain.table} ${chain.name}`, chain]));
  const chains = new Map<string, readonly RuleText[]>();
  const entries = new Map<string, SharedEntry[]>();
  const servicePorts: ServicePortName[] = [];
  const note = (table: TableName, chain: string, rule: RuleText): void => {
    const found = owned(rule);
    if (!found) return;
    const { owner, frontend } = found;
    const entry = { table, chain, rule, ...(frontend !== undefined && { frontend }) };
    const text = displayName(owner);
    const present = entries.get(text);
    if (present) present.push(entry);
    else {
      entries.set(text, [entry]);
      servicePorts.push(owner);
    }
  };
  for (const table of saved) {
    for (const { name, rules } of table.chains) {
      const chain = shared.get(`${table.name} ${name}`);
      if (chain) for (const rule of rules) note(chain.table, name, rule);
      else if (table.name === 'nat') chains.set(name, rules);
    }
  }
  return { chains, entries, servicePorts };
}

/** Whose entry a rule is, and about which frontend. One that names no service port is that of its frontend alone. */
function owned(rule: RuleText): { readonly owner: ServicePortName; readonly frontend?: string } | undefined {
  const [, number, address, vport] = VIRTUAL_SERVER.exec(rule) ?? [];
  if (number !== undefined) {
    const protocol = protocolOfNumber(Number(number))!;
    const frontend = `${hostPort(address!, Number(vport))}/${protocol}`;
    return { owner: { namespace: '', name: frontend, port: '', protocol }, frontend };
  }
  const [, , namespace, name, port = ''] = COMMENT.exec(rule) ?? [];
  const protocol = PROTOCOL.exec(rule)?.[1]?.toUpperCase() as Protocol | undefined;
  if (namespace === undefined || !protocol) return undefined;
  const frontend = frontendOf(rule, protocol);
  return { owner: { namespace, name: name!, port, protocol }, ...(frontend !== undefined && { frontend }) };
}

/** As compiled entries name it. */
function frontendOf(rule: RuleText, protocol: Protocol): string | undefined {
  const [, address, , port] = FRONTEND.exec(rule) ?? [];
  if (port === undefined) return undefined;
  return `${address === undefined ? `node port ${port}` : hostPort(address, Number(port))}/${protocol}`;
}
