import { isServiceChain } from '../../../domain/iptables/chain-names.js';
import {
  holds,
  sharedHolds,
  type DesiredTables,
  type DesiredSharedChain,
} from '../../../domain/iptables/state/desired-tables.js';
import type { OwnedChain } from '../../../domain/iptables/state/desired-state.js';
import type { SavedTables } from '../../../domain/iptables/text/saved-tables.js';
import { OWNED_TABLE, type Chain, type RuleText, type TableName } from '../../../domain/iptables/table.js';
import { removeChains, writeChains } from './chain-lines.js';
import type { RestoreLines } from './restore-lines.js';
import { RestoreScript } from './restore-script.js';

/** Most of the work is in the first: while the tool reads that, the others are made. */
const TABLES: readonly TableName[] = [OWNED_TABLE, 'filter', 'mangle'];
/** A shared chain with more to put right is written anew. */
const MOST_SINGLE_RULES = 50;

/** What separates the kernel's tables from their image. */
export interface TablesDifference {
  /** What must be applied at once. Empty when nothing differs. */
  readonly repair: RestoreScript;
  /**
   * Chains of services that are gone. What they are shows while the text of `repair` is gone through, and nothing of ours
   * leads to them once that is applied.
   */
  readonly removal: RestoreScript;
}

export interface DifferenceOptions {
  readonly chainsPerCommit: number;
  /** Strangers' rules in our chains are not named one by one: iptables may not read what it wrote. */
  readonly rewriteShared?: boolean;
  /** Which chains of table nat go when the image does not have them. Missing: those of mode iptables. */
  readonly isServiceChain?: (name: string) => boolean;
}

/**
 * Finds the least that turns the kernel's tables into the image. What is not ours is left alone. Chains are compared while
 * the text is gone through, so that the tool reads the first while the last are not made yet.
 */
export function tablesDifference(
  image: DesiredTables,
  saved: SavedTables,
  options: DifferenceOptions,
): TablesDifference {
  const difference = new Difference(image, new PresentTables(saved), options);
  return {
    repair: new RestoreScript((lines) => difference.repair(lines)),
    removal: new RestoreScript((lines) => difference.remove(lines)),
  };
}

class PresentTables {
  private readonly tables: ReadonlyMap<string, ReadonlyMap<string, readonly RuleText[]>>;

  constructor(saved: SavedTables) {
    this.tables = new Map(
      saved.map(({ name, chains }) => [name, new Map(chains.map((chain) => [chain.name, chain.rules]))]),
    );
  }

  rules(table: TableName, chain: string): readonly RuleText[] | undefined {
    return this.tables.get(table)?.get(chain);
  }

  names(table: TableName): readonly string[] {
    return [...(this.tables.get(table)?.keys() ?? [])];
  }
}

class Difference {
  private stale = new Set<string>();

  constructor(
    private readonly image: DesiredTables,
    private readonly present: PresentTables,
    private readonly options: DifferenceOptions,
  ) {}

  *repair(lines: RestoreLines): Generator<void> {
    for (const table of TABLES) yield* this.repairTable(table, lines);
  }

  *remove(lines: RestoreLines): Generator<void> {
    const chains = [...this.stale].map((name) => ({ table: OWNED_TABLE, name }));
    yield* removeChains(lines, chains, this.options.chainsPerCommit);
  }

  private *repairTable(table: TableName, lines: RestoreLines): Generator<void> {
    const { image, present } = this;
    const { frame } = image;
    for (const chain of [...frame.shared, ...frame.lent])
      if (chain.table === table && !present.rules(table, chain.name)) lines.declare(table, chain.name);
    const ofNode = frame.chains.filter((chain) => chain.table === table && this.differs(chain));
    yield* writeChains(
      lines,
      ofNode.map((chain) => ({ chain })),
      Infinity,
    );
    if (table === OWNED_TABLE) yield* writeChains(lines, this.differingOwned(), this.options.chainsPerCommit);
    for (const chain of image.shared(table)) yield* this.repairShared(chain, lines);
    for (const { chain, rule, place } of frame.jumps.filter((jump) => jump.table === table)) {
      if (present.rules(table, chain)?.includes(rule)) continue;
      if (place === 'first') lines.insert(table, chain, rule);
      else lines.append(table, chain, rule);
    }
    lines.commit();
    yield;
  }

  private differs(chain: Chain): boolean {
    const actual = this.present.rules(chain.table, chain.name);
    return !actual || !holds(chain, actual);
  }

  /** Goes through the chains of all service ports, so that it knows in the end which chains are nobody's. */
  private *differingOwned(): Generator<OwnedChain> {
    const { isServiceChain: isOurs = isServiceChain } = this.options;
    this.stale = new Set(this.present.names(OWNED_TABLE).filter(isOurs));
    for (const owned of this.image.owned()) {
      this.stale.delete(owned.chain.name);
      if (this.differs(owned.chain)) yield owned;
    }
  }

  /** Puts single rules right where that is enough, and writes the chain anew where it is not. */
  private *repairShared(chain: DesiredSharedChain, lines: RestoreLines): Generator<void> {
    const { table, name, rules, before, entries, after } = chain;
    const actual = this.present.rules(table, name);
    if (actual && sharedHolds(chain, actual)) return;
    const single = actual && !this.options.rewriteShared && before.length === 0;
    const repair = single ? singleRules(rules, actual) : undefined;
    if (repair && sharedHolds(chain, [...repair.missing, ...repair.kept])) {
      const owners = new Map(entries.map(({ entry, owner }) => [entry.rule, owner]));
      for (const rule of repair.surplus) lines.delete(table, name, rule, owners.get(rule));
      for (const rule of [...repair.missing].reverse()) lines.insert(table, name, rule, owners.get(rule));
      return;
    }
    if (actual) lines.declare(table, name);
    for (const rule of before) lines.append(table, name, rule);
    for (const { entry, owner } of entries) {
      lines.append(table, name, entry.rule, owner);
      yield;
    }
    for (const rule of after) lines.append(table, name, rule);
  }
}

/** Which rules to delete, and which to put at the head; undefined when they are too many. */
function singleRules(
  wanted: readonly RuleText[],
  actual: readonly RuleText[],
):
  | {
      readonly missing: readonly RuleText[];
      readonly surplus: readonly RuleText[];
      readonly kept: readonly RuleText[];
    }
  | undefined {
  const counts = new Map<RuleText, number>();
  for (const rule of actual) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const missing = wanted.filter((rule) => {
    const left = counts.get(rule) ?? 0;
    counts.set(rule, left - 1);
    return left <= 0;
  });
  // What is deleted is the first of its text, so that is what is not kept.
  const surplus: RuleText[] = [];
  const kept = actual.filter((rule) => {
    const left = counts.get(rule) ?? 0;
    if (left <= 0) return true;
    counts.set(rule, left - 1);
    surplus.push(rule);
    return false;
  });
  return missing.length + surplus.length > MOST_SINGLE_RULES ? undefined : { missing, surplus, kept };
}
