import isEqual from 'fast-deep-equal';
import { frontendText, NODE_PORT, type FrontendAddress } from '../conntrack/frontend-map.js';
import { getOrMake } from '../model/maps.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import { Claims } from '../reconcile/claims.js';
import type { DesiredState } from '../reconcile/desired-state.js';
import { sequenceDifference } from '../reconcile/rule-difference.js';
import {
  IptablesChange,
  claimId,
  withoutSharedRules,
  type OwnedChain,
  type OwnedEntry,
} from './iptables-change.js';
import {
  OWNED_TABLE,
  rulesInChains,
  type IptablesServicePortRules,
  type SharedEntry,
  type TableName,
  type BaseRules,
  type Chain,
  type RuleText,
  type SharedChain,
} from './table.js';

/**
 * The chains and entries as the rules of all service ports make them. It keeps who claims each frontend in each shared
 * chain, so that replacing the rules of one service port costs what is in them. All claimants keep their entries, in each chain by
 * their keys; so one that forwards in table nat has the packets of one that turns them away in table filter.
 */
export class IptablesDesiredState implements DesiredState<IptablesServicePortRules, IptablesChange> {
  private readonly rulesByOwner = new Map<ServicePortKey, IptablesServicePortRules>();
  private readonly claims = new Claims();
  private readonly ruleCounts = new Map<TableName, number>();

  rules(owner: ServicePortKey): IptablesServicePortRules | undefined {
    return this.rulesByOwner.get(owner);
  }

  newChange(): IptablesChange {
    return new IptablesChange();
  }

  lost(frontends: readonly FrontendAddress[]): readonly FrontendAddress[] {
    const rules = new Map<string, RuleText[]>();
    for (const { entry } of this.entries('nat')) getOrMake(rules, entry.chain, () => []).push(entry.rule);
    const wanted = new Set(udpFrontends((chain) => rules.get(chain)).map(frontendText));
    return frontends.filter((frontend) => !wanted.has(frontendText(frontend)));
  }

  replace(owner: ServicePortKey, rules: IptablesServicePortRules | undefined, change?: IptablesChange): void {
    const former = this.rulesByOwner.get(owner);
    this.put(owner, rules);
    change?.rulesReplaced(owner, former, rules);
    if (former?.entries !== rules?.entries)
      this.replaceEntries(owner, former?.entries ?? [], rules?.entries ?? [], change);
  }

  /** How many rules service ports have in a table, in chains of their own and in shared ones. Costs nothing. */
  ruleCount(table: TableName): number {
    return this.ruleCounts.get(table) ?? 0;
  }

  /** The chains of all service ports, those of one after those of another. */
  *chains(): Generator<OwnedChain> {
    for (const [owner, { chains }] of this.rulesByOwner) for (const chain of chains) yield { chain, owner };
  }

  /** The entries of all service ports in a table, in order of their owners, which is the order of a frontend's claimants. */
  entries(table: TableName): readonly OwnedEntry[] {
    const found: OwnedEntry[] = [];
    // A comparison function of our own would take far longer.
    for (const owner of [...this.rulesByOwner.keys()].sort())
      for (const entry of this.rulesByOwner.get(owner)!.entries)
        if (entry.table === table) found.push({ entry, owner });
    return this.claims.isContested ? withoutSharedRules(found) : found;
  }

  /** Whether others claim what the entry is about, in the entry's chain, and `owner` does not. */
  isClaimedByOthersOnly(entry: SharedEntry, owner: ServicePortKey): boolean {
    const claimants = this.claims.claimants(claimId(entry));
    return claimants.length > 0 && !claimants.includes(owner);
  }

  private put(owner: ServicePortKey, rules: IptablesServicePortRules | undefined): void {
    const former = this.rulesByOwner.get(owner);
    if (former) this.count(former, -1);
    if (rules) this.rulesByOwner.set(owner, rules);
    else this.rulesByOwner.delete(owner);
    if (rules) this.count(rules, 1);
  }

  private count(rules: IptablesServicePortRules, sign: 1 | -1): void {
    const add = (table: TableName, rules: number) =>
      this.ruleCounts.set(table, this.ruleCount(table) + sign * rules);
    add(OWNED_TABLE, rulesInChains(rules.chains));
    for (const { table } of rules.entries) add(table, 1);
  }

  private replaceEntries(
    owner: ServicePortKey,
    before: readonly SharedEntry[],
    after: readonly SharedEntry[],
    change: IptablesChange | undefined,
  ): void {
    const former = byClaim(before);
    for (const [id, entries] of byClaim(after)) {
      const present = former.get(id);
      former.delete(id);
      if (!present || !isEqual(present.map(ruleOf), entries.map(ruleOf)))
        this.replaceClaim(id, owner, present, entries, change);
    }
    for (const [id, entries] of former) this.replaceClaim(id, owner, entries, undefined, change);
  }

  private replaceClaim(
    id: string,
    owner: ServicePortKey,
    former: readonly SharedEntry[] | undefined,
    present: readonly SharedEntry[] | undefined,
    change: IptablesChange | undefined,
  ): void {
    const before = this.claims.claimants(id);
    if (present) this.claims.claim(id, owner);
    else this.claims.release(id, owner);
    const after = this.claims.claimants(id);
    if (change) {
      const entriesOf = (owners: readonly ServicePortKey[], own: readonly SharedEntry[] = []) =>
        withoutSharedRules(
          owners.flatMap((each) =>
            (each === owner ? own : this.entriesOn(id, each)).map((entry) => ({ entry, owner: each })),
          ),
        );
      change.entriesReplaced(id, entriesOf(before, former), entriesOf(after, present));
    }
    for (const other of before) if (other !== owner && !after.includes(other)) this.giveUp(id, other);
  }

  private entriesOn(id: string, owner: ServicePortKey): readonly SharedEntry[] {
    return this.rules(owner)?.entries.filter((entry) => claimId(entry) === id) ?? [];
  }

  /** The claim of rules that nothing explains has ended, and so have its entries. */
  private giveUp(id: string, owner: ServicePortKey): void {
    const rules = this.rules(owner)!;
    this.put(owner, { ...rules, entries: rules.entries.filter((entry) => claimId(entry) !== id) });
  }
}

/** Entries whose order counts, by what they are about. */
function byClaim(entries: readonly SharedEntry[]): Map<string, SharedEntry[]> {
  const claims = new Map<string, SharedEntry[]>();
  for (const entry of entries) getOrMake(claims, claimId(entry), () => []).push(entry);
  return claims;
}

function ruleOf({ rule }: SharedEntry): string {
  return rule;
}

/** Chains of table nat that lead from a frontend to its service port, in the modes that have them. */
const DISPATCHING = ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PORTALS-HOST', 'KUBE-NODEPORT-HOST'];
const UDP_DISPATCH =
  /^(?:-d ([^/ ]+)\/(?:32|128) )?-p udp .*--dport (\d+) .*-j (?:KUBE-(?:SVC|SVL|EXT|FW|XLB)-|DNAT)/;

/** The UDP frontends that rules of table nat lead to a service port. */
export function udpFrontends(
  rulesOf: (chain: string) => readonly RuleText[] | undefined,
): readonly FrontendAddress[] {
  return DISPATCHING.flatMap((chain) => rulesOf(chain) ?? []).flatMap((rule) => {
    const [, address = NODE_PORT, port] = UDP_DISPATCH.exec(rule) ?? [];
    return port === undefined ? [] : [{ address, port: Number(port) }];
  });
}

/** A chain that service ports share, and where its rules come from. */
export interface DesiredSharedChain extends Chain {
  readonly entries: readonly OwnedEntry[];
  /** Rules that lead away what no entry took; their order among themselves means nothing. */
  readonly after: readonly RuleText[];
}

/**
 * All chains of the iptables mode as they should be: what a fresh start writes, and verification compares with. They are made
 * when requested, from the desired state and the base rules as they are at that moment.
 */
export class DesiredTables {
  constructor(
    private readonly desired: IptablesDesiredState,
    readonly baseRules: BaseRules,
  ) {}

  /** The chains that service ports have for themselves, those of one after those of another. */
  owned(): Iterable<OwnedChain> {
    return this.desired.chains();
  }

  /** Chains of a table that service ports share. Costs what they hold. */
  shared(table: TableName): readonly DesiredSharedChain[] {
    const chains = this.baseRules.shared.filter((chain) => chain.table === table);
    if (chains.length === 0) return [];
    const entries = new Map<string, OwnedEntry[]>(chains.map(({ name }) => [name, []]));
    for (const owned of this.desired.entries(table)) entries.get(owned.entry.chain)?.push(owned);
    return chains.map((chain) => desiredSharedChain(chain, entries.get(chain.name)!));
  }
}

function desiredSharedChain(
  { table, name, after }: SharedChain,
  entries: readonly OwnedEntry[],
): DesiredSharedChain {
  const rules = [...entries.map(({ entry }) => entry.rule), ...after];
  return { table, name, rules, entries, after };
}

/** Whether a chain holds what it should. */
export function holds({ rules }: Chain, actual: readonly RuleText[]): boolean {
  return isEqual(rules, actual);
}

/** Whether a shared chain holds what it should: the order of its entries counts only among those about the same packets. */
export function sharedHolds(chain: DesiredSharedChain, actual: readonly RuleText[]): boolean {
  const { rules, entries, after } = chain;
  if (holds(chain, actual)) return true;
  return (
    actual.length === rules.length &&
    sameRules(after, actual.slice(entries.length)) &&
    sameRules(rules, actual) &&
    inOrder(entries, actual)
  );
}

/** The same rules, each as often. */
function sameRules(one: readonly RuleText[], other: readonly RuleText[]): boolean {
  const { unexpected, missing } = sequenceDifference(one, other, false);
  return unexpected.length + missing.length === 0;
}

/** Whether the entries about the same packets stand in their order. All of them are there. */
function inOrder(entries: readonly OwnedEntry[], actual: readonly RuleText[]): boolean {
  const runs = new Map<string, RuleText[]>();
  for (const { entry } of entries) getOrMake(runs, claimId(entry), () => []).push(entry.rule);
  const several = [...runs.values()].filter((run) => run.length > 1);
  const runOf = new Map(several.flatMap((run) => run.map((rule) => [rule, run])));
  const found = new Map<readonly RuleText[], RuleText[]>(several.map((run) => [run, []]));
  for (const rule of actual) found.get(runOf.get(rule) ?? [])?.push(rule);
  return [...found].every(([run, its]) => isEqual(run, its));
}
