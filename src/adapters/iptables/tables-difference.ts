import { isServiceChain } from '../../domain/iptables/chain-names.js';
import {
  holds,
  sharedHolds,
  type DesiredSharedChain,
  type DesiredTables,
} from '../../domain/iptables/desired-state.js';
import type { OwnedChain, OwnedEntry } from '../../domain/iptables/iptables-change.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { OWNED_TABLE, type Chain, type RuleText, type TableName } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import {
  differing,
  type RuleDifference,
  sequenceDifference,
} from '../../domain/reconcile/rule-difference.js';
import { IPTABLES_OWNED_CHAINS, isOwned } from './owned-chains.js';
import { fillShared, removeChains, writeChains, type RestoreLines, RestoreScript } from './restore-script.js';

/** Where frontends without endpoints are rejected. */
const REJECTING: TableName = 'filter';
const TARGET = /(?:^| )-[jg] (\S+)/;
const DROPS = / -j DROP$/;
const REJECTS = / -j REJECT /;

/** Options that do not depend on the frontend of a rule. */
const NOT_OF_FRONTEND =
  / -m comment --comment (?:"(?:[^"\\]|\\.)*"|\S+)| -m addrtype --dst-type LOCAL| -j .*$/g;

/** Most of the work is in the first: while the tool reads that, the others are made. */
const TABLES: readonly TableName[] = [OWNED_TABLE, REJECTING, 'mangle'];
const FILTER_FIRST: readonly TableName[] = [REJECTING, OWNED_TABLE, 'mangle'];

/** A shared chain with more wrong rules is rewritten. */
const MOST_SINGLE_RULES = 50;

/** The difference between the kernel's tables and the desired ones. */
export interface TablesDifference {
  /** Steps that must be applied together. Empty when nothing differs. */
  readonly repair: RestoreScript;
  /** Removes chains of services that are gone. Nothing of ours leads to them once `repair` is applied. */
  readonly removal: RestoreScript;
  /**
   * Those of these chains that cannot be removed, each with the rule of another program that leads to it. They are emptied. Undefined
   * where only rules of iptables mode do, which go with that mode.
   */
  readonly held: ReadonlyMap<string, RuleText | undefined>;
  /** `repair` deletes rules from shared chains by their text. Where another program wrote them, iptables may not read its own text. */
  readonly deletesByText: boolean;
  /** `repair` rewrites existing shared chains with all their rules, also correct ones. */
  readonly rewritesShared: boolean;
}

export interface DifferenceOptions {
  readonly chainsPerCommit: number;
  /** How shared chains that are there are put right. Missing: whichever is less work. */
  readonly shared?: 'rewritten' | 'rule by rule';
  /** Which chains of table nat go when no service port has them. Missing: those of iptables mode. */
  readonly isServiceChain?: (name: string) => boolean;
  /**
   * Chains of table filter in which another mode drops what its rules of table nat do not lead to endpoints. They are emptied, and table
   * filter is put right, before those are replaced.
   */
  readonly retired?: readonly string[] | undefined;
  /** The repaired tables. Missing: all tables. */
  readonly tables?: readonly TableName[] | undefined;
}

/** Repairs a shared chain without changing its other rules. */
interface SingleRules {
  /** To be put at its head, in order. */
  readonly inserted: readonly OwnedEntry[];
  /** To be put at its end. */
  readonly appended: readonly RuleText[];
  readonly deleted: readonly RuleText[];
}

/** A shared chain that differs. */
interface SharedRepair {
  readonly chain: DesiredSharedChain;
  /** Undefined where it takes too many. */
  readonly single: SingleRules | undefined;
  /** It is rewritten instead. Earlier steps, in table filter, are inserted and deleted as usual. */
  readonly isRewritten: boolean;
}

/** Finds the least that turns the kernel's tables into the desired ones. What is not ours is left alone. */
export function tablesDifference(
  desired: DesiredTables,
  saved: SavedTables,
  options: DifferenceOptions,
): TablesDifference {
  const difference = new Difference(desired, saved, options);
  return {
    repair: new RestoreScript((lines) => difference.repair(lines)),
    removal: new RestoreScript((lines) => difference.remove(lines)),
    held: difference.held,
    deletesByText: difference.deletesByText,
    rewritesShared: difference.rewritesShared,
  };
}

class Difference {
  private readonly present: ReadonlyMap<string, ReadonlyMap<string, readonly RuleText[]>>;
  private readonly owned: Iterable<OwnedChain>;
  private readonly shared: readonly SharedRepair[];
  /** Frontends that rules of the kernel lead to services. */
  private led: ReadonlySet<string> | undefined;
  /** Frontends that are to be rejected. */
  private rejected: ReadonlySet<string> | undefined;
  /** Chains of service ports that none has any more. */
  private readonly unexpected: ReadonlySet<string>;
  readonly held: TablesDifference['held'];

  constructor(
    private readonly desired: DesiredTables,
    saved: SavedTables,
    private readonly options: DifferenceOptions,
  ) {
    const { isServiceChain: isOfService = isServiceChain } = options;
    this.present = presentChains(saved);
    // Rules of a table that is not put right may still lead to them.
    const chains = this.tables.includes(OWNED_TABLE) ? this.present.get(OWNED_TABLE)?.keys() : undefined;
    const unexpected = new Set([...(chains ?? [])].filter(isOfService));
    this.unexpected = unexpected;
    this.owned = unexpected.size > 0 ? this.differingChains(unexpected) : allChains(desired);
    this.held = unexpected.size > 0 ? this.heldChains(isOfService) : new Map();
    this.shared = this.tables
      .flatMap((table) => desired.shared(table))
      .flatMap((chain) => this.sharedRepair(chain) ?? []);
  }

  get deletesByText(): boolean {
    return this.shared.some(({ single, isRewritten }) => !isRewritten && single!.deleted.length > 0);
  }

  get rewritesShared(): boolean {
    return this.shared.some(({ chain, isRewritten }) => isRewritten && this.rules(chain.table, chain.name));
  }

  /** A frontend that has lost its endpoints is rejected before its rules go; one that has got some, until it has rules. */
  *repair(lines: RestoreLines): Generator<void> {
    for (const { chain, single } of this.shared)
      if (chain.table === REJECTING && single) this.takeSteps(chain, single, 'early', lines);
    lines.commit();
    for (const table of this.tables) yield* this.repairTable(table, lines);
  }

  *remove(lines: RestoreLines): Generator<void> {
    const chains = [...this.unexpected]
      .map((name) => ({ table: OWNED_TABLE, name, isKept: this.held.has(name) }))
      .filter(({ name, isKept }) => !isKept || this.rules(OWNED_TABLE, name)!.length > 0);
    yield* removeChains(lines, chains, this.options.chainsPerCommit);
  }

  private *repairTable(table: TableName, lines: RestoreLines): Generator<void> {
    const { baseRules } = this.desired;
    if (table === REJECTING)
      for (const name of this.options.retired ?? [])
        if (this.rules(table, name)?.length) lines.declare(table, name);
    for (const chain of [...baseRules.shared, ...baseRules.unmanagedChains])
      if (chain.table === table && !this.rules(table, chain.name)) lines.declare(table, chain.name);
    const ofNode = baseRules.chains.filter((chain) => chain.table === table && this.differs(chain));
    yield* writeChains(
      lines,
      ofNode.map((chain) => ({ chain })),
      Infinity,
    );
    if (table === OWNED_TABLE) yield* writeChains(lines, this.owned, this.options.chainsPerCommit);
    for (const repair of this.shared)
      if (repair.chain.table === table) yield* this.repairShared(repair, lines);
    for (const { chain, rule, place } of baseRules.jumps.filter((jump) => jump.table === table)) {
      if (this.rules(table, chain)?.includes(rule)) continue;
      if (place === 'first') lines.insert(table, chain, rule);
      else lines.append(table, chain, rule);
    }
    lines.commit();
    yield;
  }

  private get tables(): readonly TableName[] {
    const { retired, tables = TABLES } = this.options;
    return (retired ? FILTER_FIRST : TABLES).filter((table) => tables.includes(table));
  }

  private rules(table: TableName, chain: string): readonly RuleText[] | undefined {
    return this.present.get(table)?.get(chain);
  }

  private differs(chain: Chain): boolean {
    const actual = this.rules(chain.table, chain.name);
    return !actual || !holds(chain, actual);
  }

  /** @param unexpected loses the chains that service ports have */
  private differingChains(unexpected: Set<string>): readonly OwnedChain[] {
    const differing: OwnedChain[] = [];
    for (const owned of this.desired.owned()) {
      unexpected.delete(owned.chain.name);
      if (this.differs(owned.chain)) differing.push(owned);
    }
    return differing;
  }

  /** Nothing of ours leads to a unexpected chain once everything else is right. */
  private heldChains(isOfService: (name: string) => boolean): TablesDifference['held'] {
    const held = new Map<string, RuleText | undefined>();
    const { baseRules } = this.desired;
    const own = new Set([...baseRules.chains, ...baseRules.shared].map(({ name }) => name));
    for (const [name, rules] of this.present.get(OWNED_TABLE)!) {
      if (own.has(name) || isOfService(name)) continue;
      const isForeign = !isOwned(IPTABLES_OWNED_CHAINS, OWNED_TABLE, name);
      for (const rule of rules) {
        const target = TARGET.exec(rule)?.[1];
        if (target !== undefined && this.unexpected.has(target))
          held.set(target, held.get(target) ?? (isForeign ? `-A ${name} ${rule}` : undefined));
      }
    }
    return held;
  }

  private sharedRepair(chain: DesiredSharedChain): SharedRepair | undefined {
    const actual = this.rules(chain.table, chain.name);
    if (actual && sharedHolds(chain, actual)) return undefined;
    const { shared } = this.options;
    const most = shared === 'rule by rule' ? Infinity : MOST_SINGLE_RULES;
    const single = actual && singleRules(chain, actual, most);
    return { chain, single, isRewritten: !single || shared === 'rewritten' };
  }

  private *repairShared({ chain, single, isRewritten }: SharedRepair, lines: RestoreLines): Generator<void> {
    const { table, name } = chain;
    if (isRewritten || !single) {
      const actual = this.rules(table, name);
      if (actual) lines.declare(table, name);
      return yield* fillShared(lines, chain, new Set(actual));
    }
    if (table !== REJECTING) this.takeSteps(chain, single, 'early', lines);
    for (const rule of single.appended) lines.append(table, name, rule);
    this.takeSteps(chain, single, 'late', lines);
  }

  private takeSteps(
    { table, name }: Chain,
    { inserted, deleted }: SingleRules,
    when: 'early' | 'late',
    lines: RestoreLines,
  ): void {
    for (const { entry, owner } of [...inserted].reverse())
      if (this.isLate(entry.rule) === (when === 'late')) lines.insert(table, name, entry.rule, owner);
    for (const rule of deleted)
      if (this.isEarly(rule) === (when === 'early')) lines.delete(table, name, rule);
  }

  /** Rules that drop some packets of a frontend come after the rules for the others, which other rules may answer until then. */
  private isLate(rule: RuleText): boolean {
    if (!DROPS.test(rule)) return false;
    this.led ??= new Set(
      this.desired.baseRules.shared
        .filter(({ table }) => table === OWNED_TABLE)
        .flatMap(({ table, name }) => this.rules(table, name) ?? [])
        .map(frontendOf),
    );
    return !this.led.has(frontendOf(rule));
  }

  /** Drop rules of a frontend are removed once its packets are rejected, by another chain after it. */
  private isEarly(rule: RuleText): boolean {
    if (!DROPS.test(rule)) return false;
    this.rejected ??= new Set(
      this.desired
        .shared(REJECTING)
        .flatMap(({ rules }) => rules.filter((one) => REJECTS.test(one)))
        .map(frontendOf),
    );
    return this.rejected.has(frontendOf(rule));
  }
}

/** Equal for rules about the same frontend. */
function frontendOf(rule: RuleText): string {
  return rule.replace(NOT_OF_FRONTEND, '');
}

function presentChains(saved: SavedTables): ReadonlyMap<string, ReadonlyMap<string, readonly RuleText[]>> {
  return new Map(
    saved.map(({ name, chains }) => [name, new Map(chains.map((chain) => [chain.name, chain.rules]))]),
  );
}

/** Where no chain of a service is present, all are missing. They are made while they are written: there are very many. */
function allChains(desired: DesiredTables): Iterable<OwnedChain> {
  return { [Symbol.iterator]: () => desired.owned()[Symbol.iterator]() };
}

/** Undefined where rules would be more than `most`, or in a wrong order. */
export function singleRules(
  chain: DesiredSharedChain,
  actual: readonly RuleText[],
  most: number,
): SingleRules | undefined {
  const { rules, entries } = chain;
  const { unexpected, missing } = sequenceDifference(actual, rules, false);
  if (unexpected.length + missing.length > most) return undefined;
  const inserted = missing.flatMap((index) => entries[index] ?? []);
  const appended = missing.flatMap((index) => (index < entries.length ? [] : rules[index]!));
  const deleted = unexpected.map((index) => actual[index]!);
  const result = [...inserted.map(({ entry }) => entry.rule), ...actual, ...appended];
  // The tool deletes the first rule of that text.
  for (const rule of deleted) result.splice(result.indexOf(rule), 1);
  return sharedHolds(chain, result) ? { inserted, appended, deleted } : undefined;
}

/** In the comment of a rule: the service port, perhaps followed by what of it. */
const COMMENTED = /--comment "?([^\s"/]+\/[^\s"]+)/;

interface HowToCompare {
  /** Whose a rule of the desired chain is; missing where they are the node's. */
  readonly owner?: (index: number) => ServicePortKey | undefined;
  /** Whether rules count by their places. */
  readonly ordered: boolean;
}

/**
 * The difference between the kernel's tables and the desired ones in the words of iptables: `-N` and `-A` say what a chain and a
 * rule are. What is not ours is left out. Chains of services are compared while this is iterated, each with a step of its own.
 * @param isOfService which chains of table nat go when no service port has them
 */
export function* ruleDifferences(
  desired: DesiredTables,
  saved: SavedTables,
  isOfService: (name: string) => boolean = isServiceChain,
): Generator<RuleDifference | undefined> {
  const present = presentChains(saved);
  const unexpectedChains = new Set([...(present.get(OWNED_TABLE)?.keys() ?? [])].filter(isOfService));
  const actual = ({ table, name }: Pick<Chain, 'table' | 'name'>): readonly RuleText[] | undefined =>
    present.get(table)?.get(name);
  const { baseRules } = desired;
  for (const chain of baseRules.unmanagedChains)
    if (!actual(chain)) yield differing('+', `-t ${chain.table} -N ${chain.name}`);
  for (const { table, chain, rule } of baseRules.jumps)
    if (!actual({ table, name: chain })?.includes(rule)) yield differing('+', lineOf(table, chain, rule));
  for (const chain of baseRules.chains) {
    const its = actual(chain);
    if (!its || !holds(chain, its)) yield* differingRules(chain, its, { ordered: true });
  }
  for (const chain of TABLES.flatMap((table) => desired.shared(table))) {
    const its = actual(chain);
    if (its && sharedHolds(chain, its)) continue;
    yield* differingRules(chain, its, {
      owner: (index) => chain.entries[index]?.owner,
      // Entries may stand in any order as long as those about the same packets do not change places.
      ordered: its !== undefined && !differsUnordered(its, chain.rules),
    });
  }
  for (const { chain, owner } of desired.owned()) {
    unexpectedChains.delete(chain.name);
    const its = actual(chain);
    if (!its || !holds(chain, its)) yield* differingRules(chain, its, { owner: () => owner, ordered: true });
    yield undefined;
  }
  for (const name of unexpectedChains) {
    for (const rule of actual({ table: OWNED_TABLE, name })!)
      yield unexpected(lineOf(OWNED_TABLE, name, rule));
    yield differing('-', `-t ${OWNED_TABLE} -N ${name}`);
  }
}

function* differingRules(
  { table, name, rules }: Chain,
  actual: readonly RuleText[] | undefined,
  { owner = () => undefined, ordered }: HowToCompare,
): Generator<RuleDifference> {
  if (!actual) yield differing('+', `-t ${table} -N ${name}`, owner(0));
  const { unexpected: gone, missing } = sequenceDifference(actual ?? [], rules, ordered);
  for (const index of gone) yield unexpected(lineOf(table, name, actual![index]!));
  for (const index of missing) yield differing('+', lineOf(table, name, rules[index]!), owner(index));
}

function differsUnordered(actual: readonly RuleText[], wanted: readonly RuleText[]): boolean {
  const { unexpected: gone, missing } = sequenceDifference(actual, wanted, false);
  return gone.length + missing.length > 0;
}

/** Only its comment names its owner. */
function unexpected(line: string): RuleDifference {
  const servicePort = COMMENTED.exec(line)?.[1];
  return { sign: '-', text: line, ...(servicePort !== undefined && { servicePort }) };
}

function lineOf(table: TableName, chain: string, rule: RuleText): string {
  return `-t ${table} -A ${chain} ${rule}`;
}
