import { frontendName } from '../forwarding/forwarding-entry.js';
import { getOrMake } from '../model/maps.js';
import {
  displayName,
  serviceOf,
  servicePortName,
  type Protocol,
  type ServicePortKey,
  type ServicePortName,
} from '../model/service-port-name.js';
import { isUnexplained } from '../reconcile/claims.js';
import type { AdoptedRules } from '../reconcile/desired-state.js';
import { SERVICE_CHAIN_KINDS, ServiceChainNames } from './chain-names.js';
import type { IptablesDesiredState } from './desired-state.js';
import type { SavedTables } from './saved-tables.js';
import {
  OWNED_TABLE,
  type BaseRules,
  type Chain,
  type IptablesServicePortRules,
  type RuleText,
  type SharedEntry,
} from './table.js';

const SERVICE_CHAINS = /KUBE-(?:SVC|SVL|FW|EXT|SEP)-[A-Z0-9]+/g;

/** Comments of entries begin with the service port: its namespace, name and, if it has one, port. */
const COMMENT = /--comment "?(([^"/ ]+)\/([^":/ ]+)(?::([^" ]+))?)/;

/** Rules for health checks are about no frontend. */
const FRONTEND = /^(?:-d (\S+)\/(?:32|128) )?.*-p (\w+) .*--dport (\d+) (?!.*-j ACCEPT$)/;
const PROTOCOL = /-p (tcp|udp|sctp) /;

/** An entry, and the service port that it names. */
interface AdoptedEntry {
  readonly name: ServicePortName;
  readonly entry: SharedEntry;
}

interface AdoptedTables {
  /** Rules of the chains of table nat that are not shared, by name. */
  readonly chains: ReadonlyMap<string, readonly RuleText[]>;
  /** By label. */
  readonly entries: ReadonlyMap<string, readonly AdoptedEntry[]>;
  readonly byFrontend: ReadonlyMap<string, readonly AdoptedEntry[]>;
}

/**
 * The rules of an earlier process in the tables. Its entries name their service port in their comment, without the protocol; its
 * chains are found by their names, and by the rules that lead to them.
 */
export class IptablesAdoptedRules implements AdoptedRules<IptablesServicePortRules> {
  private tables: AdoptedTables | undefined;

  constructor(
    private readonly saved: SavedTables,
    private readonly baseRules: BaseRules,
    /** Who has claimed a frontend by now. */
    private readonly desired: Pick<IptablesDesiredState, 'isClaimedByOthersOnly'>,
  ) {}

  labelsOf(name: ServicePortName, wanted?: IptablesServicePortRules): readonly string[] {
    const frontends = new Set((wanted?.entries ?? []).flatMap(({ frontend }) => frontend ?? []));
    return [displayName(name), ...frontends];
  }

  labels(): Iterable<string> {
    return this.sorted().entries.keys();
  }

  rules(labels: readonly string[], owner: ServicePortKey): IptablesServicePortRules | undefined {
    const { entries } = this.sorted();
    const found = [
      ...new Set(labels.flatMap((label) => entries.get(label) ?? this.ofItsService(label, owner))),
    ];
    const own = isUnexplained(owner) ? found : ofProtocol(servicePortName(owner).protocol, found);
    const kept = own.filter(({ entry }) => !this.desired.isClaimedByOthersOnly(entry, owner));
    if (kept.length === 0) return undefined;
    return { chains: this.chainsOf(kept), entries: kept.map(({ entry }) => entry) };
  }

  /** The entries of that frontend, if ports of the owner's Service have them. */
  private ofItsService(frontend: string, owner: ServicePortKey): readonly AdoptedEntry[] {
    const found = this.sorted().byFrontend.get(frontend) ?? [];
    return found.filter(({ name }) => `${name.namespace}/${name.name}` === serviceOf(owner));
  }

  /** The chains that have the names of the service port, and those that rules lead to. */
  private chainsOf(entries: readonly AdoptedEntry[]): readonly Chain[] {
    const open = entries.flatMap(({ name, entry: { rule } }) => {
      const names = new ServiceChainNames(name);
      return [...SERVICE_CHAIN_KINDS.map((kind) => names.of(kind)), ...targetsOf(rule)];
    });
    const chains = new Map<string, Chain>();
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const rules = this.sorted().chains.get(name);
      if (!rules || chains.has(name)) continue;
      chains.set(name, { table: OWNED_TABLE, name, rules });
      open.push(...rules.flatMap(targetsOf));
    }
    return [...chains.values()];
  }

  private sorted(): AdoptedTables {
    return (this.tables ??= sort(this.saved, this.baseRules));
  }
}

/**
 * The entries of one of the service ports that have a label in common. Health checks use TCP for every service port, so
 * it gets one of each kind.
 */
function ofProtocol(protocol: Protocol, entries: readonly AdoptedEntry[]): readonly AdoptedEntry[] {
  const healthChecks = new Set<RuleText>();
  return entries.filter(({ name, entry: { frontend, rule } }) => {
    if (frontend !== undefined) return name.protocol === protocol;
    const isFirst = !healthChecks.has(rule);
    healthChecks.add(rule);
    return isFirst;
  });
}

function targetsOf(rule: RuleText): readonly string[] {
  return rule.match(SERVICE_CHAINS) ?? [];
}

function sort(saved: SavedTables, { shared }: BaseRules): AdoptedTables {
  const sharedChains = new Map(shared.map((chain) => [`${chain.table} ${chain.name}`, chain]));
  const chains = new Map<string, readonly RuleText[]>();
  const entries = new Map<string, AdoptedEntry[]>();
  const byFrontend = new Map<string, AdoptedEntry[]>();
  for (const table of saved) {
    for (const { name, rules } of table.chains) {
      const chain = sharedChains.get(`${table.name} ${name}`);
      if (!chain && table.name === OWNED_TABLE) chains.set(name, rules);
      for (const rule of chain ? rules : []) {
        const named = namedBy(rule);
        if (!named) continue;
        const { frontend } = named;
        const entry = { table: chain!.table, chain: name, rule, ...(frontend !== undefined && { frontend }) };
        const adopted = { name: named.name, entry };
        getOrMake(entries, displayName(named.name), () => []).push(adopted);
        if (frontend !== undefined) getOrMake(byFrontend, frontend, () => []).push(adopted);
      }
    }
  }
  return { chains, entries, byFrontend };
}

/** Which service port and frontend a rule is about. */
function namedBy(
  rule: RuleText,
): { readonly name: ServicePortName; readonly frontend: string | undefined } | undefined {
  const [, , namespace, name, port = ''] = COMMENT.exec(rule) ?? [];
  const protocol = PROTOCOL.exec(rule)?.[1]?.toUpperCase() as Protocol | undefined;
  if (namespace === undefined || !protocol) return undefined;
  return { name: { namespace, name: name!, port, protocol }, frontend: frontendOf(rule, protocol) };
}

/** As compiled entries name it. */
function frontendOf(rule: RuleText, protocol: Protocol): string | undefined {
  const [, address, , port] = FRONTEND.exec(rule) ?? [];
  return port === undefined ? undefined : frontendName(address, Number(port), protocol);
}
