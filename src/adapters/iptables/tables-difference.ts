import { isServiceChain } from '../../domain/iptables/chain-names.js';
import {
  holds,
  sharedHolds,
  type DesiredSharedChain,
  type DesiredTables,
} from '../../domain/iptables/desired-state.js';
import { type OwnedChain, claimId } from '../../domain/iptables/iptables-change.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { OWNED_TABLE, type Chain, type RuleText, type TableName } from '../../domain/iptables/table.js';
import { getOrMake } from '../../domain/model/maps.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { IPTABLES_OWNED_CHAINS, isOwned } from './owned-chains.js';
import { fillShared, removeChains, writeChains, type RestoreLines, RestoreScript } from './restore-script.js';

/** Where frontends without endpoints are rejected. */
const REJECTING: TableName = 'filter';
const DROPS = / -j DROP$/;
const REJECTS = / -j REJECT /;
const TARGET = /(?:^| )-[jg] (\S+)/;

/** What does not tell which frontend a rule is for. */
const NOT_OF_FRONTEND =
  / -m comment --comment (?:"(?:[^"\\]|\\.)*"|\S+)| -m addrtype --dst-type LOCAL| -j .*$/g;

/** Most of the work is in the first: while the tool reads that, the others are made. */
const TABLES: readonly TableName[] = [OWNED_TABLE, REJECTING, 'mangle'];
const FILTER_FIRST: readonly TableName[] = [REJECTING, OWNED_TABLE, 'mangle'];

/** A shared chain with more rules to put right is written anew. */
const MOST_SINGLE_RULES = 50;

/** What separates the kernel's tables from the desired ones. */
export interface TablesDifference {
  /** What must be applied at once. Empty when nothing differs. */
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
  /** `repair` writes shared chains anew that are there: with all their rules, also those that need no repair. */
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
  /** What is put right. Missing: all tables. */
  readonly tables?: readonly TableName[] | undefined;
}

/** A shared chain that differs, and what to do to it. */
interface SharedRepair {
  readonly chain: DesiredSharedChain;
  /** Undefined where it takes too many. */
  readonly single: SingleRules | undefined;
  /** It is written anew instead. What must come before that, in table filter, is rule by rule all the same. */
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

class Difference implements SingleRulesOrder {
  private readonly present: ReadonlyMap<string, ReadonlyMap<string, readonly RuleText[]>>;
  private readonly owned: Iterable<OwnedChain>;
  private readonly shared: readonly SharedRepair[];
  /** Frontends that rules of the kernel lead to services. */
  private led: ReadonlySet<string> | undefined;
  /** Frontends that are to be rejected. */
  private rejected: ReadonlySet<string> | undefined;
  /** Chains of service ports that none has any more. */
  private readonly surplus: ReadonlySet<string>;
  readonly held: TablesDifference['held'];

  constructor(
    private readonly desired: DesiredTables,
    saved: SavedTables,
    private readonly options: DifferenceOptions,
  ) {
    const { isServiceChain: isOfService = isServiceChain } = options;
    this.present = new Map(
      saved.map(({ name, chains }) => [name, new Map(chains.map((chain) => [chain.name, chain.rules]))]),
    );
    // Rules of a table that is not put right may still lead to them.
    const chains = this.tables.includes(OWNED_TABLE) ? this.present.get(OWNED_TABLE)?.keys() : undefined;
    const surplus = new Set([...(chains ?? [])].filter(isOfService));
    this.surplus = surplus;
    this.owned = surplus.size > 0 ? this.differingChains(surplus) : allChains(desired);
    this.held = surplus.size > 0 ? this.heldChains(isOfService) : new Map();
    this.shared = this.tables
      .flatMap((table) => desired.shared(table))
      .flatMap((chain) => this.sharedRepair(chain) ?? []);
  }

  get deletesByText(): boolean {
    return this.shared.some(
      ({ single, isRewritten }) => !isRewritten && stepsOf(single!).some(({ act }) => act === 'delete'),
    );
  }

  get rewritesShared(): boolean {
    return this.shared.some(({ chain, isRewritten }) => isRewritten && this.rules(chain.table, chain.name));
  }

  /** A frontend that has lost its endpoints is rejected before its rules go; one that has got some, until it has rules. */
  *repair(lines: RestoreLines): Generator<void> {
    for (const { chain, single } of this.shared)
      if (chain.table === REJECTING && single) takeSteps(chain, single.first, lines);
    lines.commit();
    for (const table of this.tables) yield* this.repairTable(table, lines);
  }

  *remove(lines: RestoreLines): Generator<void> {
    const chains = [...this.surplus]
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

  /** @param surplus loses the chains that service ports have */
  private differingChains(surplus: Set<string>): readonly OwnedChain[] {
    const differing: OwnedChain[] = [];
    for (const owned of this.desired.owned()) {
      surplus.delete(owned.chain.name);
      if (this.differs(owned.chain)) differing.push(owned);
    }
    return differing;
  }

  /** Nothing of ours leads to a surplus chain once everything else is right. */
  private heldChains(isOfService: (name: string) => boolean): TablesDifference['held'] {
    const held = new Map<string, RuleText | undefined>();
    const { baseRules } = this.desired;
    const own = new Set([...baseRules.chains, ...baseRules.shared].map(({ name }) => name));
    for (const [name, rules] of this.present.get(OWNED_TABLE)!) {
      if (own.has(name) || isOfService(name)) continue;
      const isForeign = !isOwned(IPTABLES_OWNED_CHAINS, OWNED_TABLE, name);
      for (const rule of rules) {
        const target = TARGET.exec(rule)?.[1];
        if (target !== undefined && this.surplus.has(target))
          held.set(target, held.get(target) ?? (isForeign ? `-A ${name} ${rule}` : undefined));
      }
    }
    return held;
  }

  private sharedRepair(chain: DesiredSharedChain): SharedRepair | undefined {
    const actual = this.rules(chain.table, chain.name);
    if (actual && sharedHolds(chain, actual)) return undefined;
    const { shared } = this.options;
    if (!actual) return { chain, single: undefined, isRewritten: true };
    const most = shared === 'rule by rule' ? Infinity : MOST_SINGLE_RULES;
    const single = singleRules(chain, actual, most, this);
    return { chain, single, isRewritten: !single || shared === 'rewritten' };
  }

  private *repairShared({ chain, single, isRewritten }: SharedRepair, lines: RestoreLines): Generator<void> {
    const { table, name } = chain;
    if (isRewritten) {
      const actual = this.rules(table, name);
      if (actual) lines.declare(table, name);
      return yield* fillShared(lines, chain, new Set(actual));
    }
    takeSteps(chain, table === REJECTING ? single!.last : stepsOf(single!), lines);
  }

  /** What drops some packets of a frontend comes behind the rules that lead the others, which something else may answer until then. */
  readonly isLate = (rule: RuleText): boolean => {
    if (!DROPS.test(rule)) return false;
    this.led ??= new Set(this.sharedRules(OWNED_TABLE).map(frontendOf));
    return !this.led.has(frontendOf(rule));
  };

  /** What drops packets of a frontend goes once they are rejected, which another chain does behind it. */
  readonly isEarly = (rule: RuleText): boolean => {
    if (!DROPS.test(rule)) return false;
    const rules = () => this.desired.shared(REJECTING).flatMap((chain) => chain.rules);
    this.rejected ??= new Set(
      rules()
        .filter((one) => REJECTS.test(one))
        .map(frontendOf),
    );
    return this.rejected.has(frontendOf(rule));
  };

  private sharedRules(table: TableName): readonly RuleText[] {
    const chains = this.desired.baseRules.shared.filter((chain) => chain.table === table);
    return chains.flatMap(({ name }) => this.rules(table, name) ?? []);
  }
}

function stepsOf({ first, last }: SingleRules): readonly RuleStep[] {
  return [...first, ...last];
}

function takeSteps(chain: DesiredSharedChain, steps: readonly RuleStep[], lines: RestoreLines): void {
  const { table, name } = chain;
  const owners = ownersOf(chain);
  for (const { act, rule, behind } of steps) {
    if (act === 'append') lines.append(table, name, rule);
    else if (act === 'delete') lines.delete(table, name, rule, owners.get(rule));
    else lines.insert(table, name, rule, owners.get(rule), behind);
  }
}

/** Equal for rules about the same frontend. */
function frontendOf(rule: RuleText): string {
  return rule.replace(NOT_OF_FRONTEND, '');
}

function ownersOf({ entries }: DesiredSharedChain): ReadonlyMap<RuleText, ServicePortKey> {
  return new Map(entries.map(({ entry, owner }) => [entry.rule, owner]));
}

/** Where no chain of a service is present, all are missing. They are made while they are written: there are very many. */
function allChains(desired: DesiredTables): Iterable<OwnedChain> {
  return { [Symbol.iterator]: () => desired.owned()[Symbol.iterator]() };
}

/** What is done with one rule of a chain. */
export interface RuleStep {
  readonly act: 'insert' | 'append' | 'delete';
  readonly rule: RuleText;
  /** How many rules there are before one that is inserted. */
  readonly behind?: number;
}

/** What puts a shared chain right without touching its other rules: before what leads packets changes, and afterwards. */
interface SingleRules {
  readonly first: readonly RuleStep[];
  readonly last: readonly RuleStep[];
}

/** What does not follow the usual order: missing rules come first, surplus ones go last. */
interface SingleRulesOrder {
  /** Missing rules that come last. */
  readonly isLate: (rule: RuleText) => boolean;
  /** Surplus rules that go first. */
  readonly isEarly: (rule: RuleText) => boolean;
}

/**
 * A rule that stands before one about the same packets, which it should follow, is inserted behind that and deleted where it was.
 * @returns undefined when they are more than `most`, or would leave rules in a wrong order
 */
export function singleRules(
  chain: DesiredSharedChain,
  actual: readonly RuleText[],
  most: number,
  { isLate, isEarly }: SingleRulesOrder,
): SingleRules | undefined {
  const positions = positionsOf(actual);
  // The tool deletes the first rule of that text, so the later ones are kept.
  const kept = [...chain.before, ...chain.entries.map(({ entry }) => entry.rule), ...chain.after]
    .reverse()
    .map((rule) => positions.get(rule)?.pop())
    .reverse();
  const isMissing = kept.map((position) => position === undefined);
  const before = isMissing.slice(0, chain.before.length);
  const misplaced: RuleText[] = [];
  const reached = new Map<string, number>();
  const entries = chain.entries.map(({ entry }, index) => {
    const position = kept[chain.before.length + index];
    if (position === undefined) return true;
    const packets = claimId(entry);
    const isMisplaced = position < (reached.get(packets) ?? 0);
    if (isMisplaced) misplaced.push(entry.rule);
    else reached.set(packets, position);
    return isMisplaced;
  });
  const after = chain.after.filter((_, index) => isMissing.at(index - chain.after.length));
  const left = [...positions.values()].flat().sort((one, other) => one - other);
  const surplus = [...misplaced, ...left.map((position) => actual[position]!)];
  const missing = [...before, ...entries].filter(Boolean).length + after.length;
  if (missing + surplus.length > most) return undefined;

  const result = [...actual];
  const [first, last]: [RuleStep[], RuleStep[]] = [[], []];
  const insert = (steps: RuleStep[], rule: RuleText, behind: number): void => {
    result.splice(behind, 0, rule);
    steps.push({ act: 'insert', rule, behind });
  };
  const insertEntries = (steps: RuleStep[], isNow: (rule: RuleText) => boolean): void => {
    let head = chain.before.length;
    const precedingOf = new Map<string, RuleText>();
    for (const [index, { entry }] of chain.entries.entries()) {
      const { rule } = entry;
      if (entries[index] && !isNow(rule)) continue;
      const packets = claimId(entry);
      const preceding = precedingOf.get(packets);
      precedingOf.set(packets, rule);
      if (!entries[index]) continue;
      entries[index] = false;
      insert(steps, rule, preceding === undefined ? head++ : result.lastIndexOf(preceding) + 1);
    }
  };

  for (const [index, rule] of chain.before.entries()) if (before[index]) insert(first, rule, index);
  insertEntries(first, (rule) => !isLate(rule));
  for (const rule of after) first.push({ act: 'append', rule });
  result.push(...after);
  const remove = (steps: RuleStep[], rule: RuleText): void => {
    result.splice(result.indexOf(rule), 1);
    steps.push({ act: 'delete', rule });
  };
  const early = new Set(surplus.filter(isEarly));
  for (const rule of surplus) if (early.has(rule)) remove(first, rule);
  insertEntries(last, () => true);
  for (const rule of surplus) if (!early.has(rule)) remove(last, rule);
  return sharedHolds(chain, result) ? { first, last } : undefined;
}

function positionsOf(rules: readonly RuleText[]): Map<RuleText, number[]> {
  const positions = new Map<RuleText, number[]>();
  for (const [position, rule] of rules.entries()) getOrMake(positions, rule, () => []).push(position);
  return positions;
}
