import { isServiceChain } from '../../domain/iptables/chain-names.js';
import { holds, type ChainImage, type IptablesImage } from '../../domain/iptables/image.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type { RuleText, TableName } from '../../domain/iptables/table.js';
import { writeChains } from './chain-lines.js';
import { RestoreScript } from './restore-script.js';

const TABLES: readonly TableName[] = ['mangle', 'filter', 'nat'];
/** A shared chain with more to put right is written anew. */
const MOST_SINGLE_RULES = 50;

/** What separates the kernel's tables from their image. */
export interface TablesDifference {
  /** What must be applied at once. Empty when nothing differs. */
  readonly repair: RestoreScript;
  /** Chains of services that are gone. Nothing of ours leads to them once `repair` is applied. */
  readonly removal: RestoreScript;
}

export interface DifferenceOptions {
  readonly chainsPerCommit: number;
  /** Strangers' rules in our chains are not named one by one: iptables may not read what it wrote. */
  readonly rewriteShared?: boolean;
  /** Which chains of table nat go when the image does not have them. Missing: those of mode iptables. */
  readonly isServiceChain?: (name: string) => boolean;
}

/** Finds the least that turns the kernel's tables into the image. What is not ours is left alone. */
export function tablesDifference(
  image: IptablesImage,
  saved: SavedTables,
  options: DifferenceOptions,
): TablesDifference {
  const present = new PresentTables(saved);
  const repair = new RestoreScript();
  for (const table of TABLES) repairTable(table, image, present, repair, options);
  return { repair, removal: staleRemoval(image, present, options) };
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

  names(table: TableName): Iterable<string> {
    return this.tables.get(table)?.keys() ?? [];
  }
}

function repairTable(
  table: TableName,
  image: IptablesImage,
  present: PresentTables,
  script: RestoreScript,
  { chainsPerCommit, rewriteShared = false }: DifferenceOptions,
): void {
  const differs = image.chains.filter((chain) => {
    if (chain.table !== table) return false;
    const actual = present.rules(table, chain.name);
    return !actual || !holds(chain, actual);
  });
  const shared = differs.filter((chain) => chain.shared);
  for (const chain of shared) if (!present.rules(table, chain.name)) script.declare(table, chain.name);
  for (const { name } of image.lent.filter((chain) => chain.table === table))
    if (!present.rules(table, name)) script.declare(table, name);
  const own = differs.filter((chain) => !chain.shared);
  writeChains(script, own.filter(({ owner }) => owner === undefined).map(toWrite), Infinity);
  writeChains(script, own.filter(({ owner }) => owner !== undefined).map(toWrite), chainsPerCommit);
  for (const chain of shared) repairShared(chain, present.rules(table, chain.name), script, rewriteShared);
  for (const { chain, rule, place } of image.jumps.filter((jump) => jump.table === table)) {
    if (present.rules(table, chain)?.includes(rule)) continue;
    if (place === 'first') script.insert(table, chain, rule);
    else script.append(table, chain, rule);
  }
  script.commit();
}

function toWrite(chain: ChainImage) {
  return { chain, owner: chain.owner };
}

/** Puts single rules right where that is enough, and writes the chain anew where it is not. */
function repairShared(
  chain: ChainImage,
  actual: readonly RuleText[] | undefined,
  script: RestoreScript,
  rewrite: boolean,
): void {
  const { table, name, rules } = chain;
  const { before, entries, after } = chain.shared!;
  const owners = new Map(entries.map(({ entry, owner }) => [entry.rule, owner]));
  const repair = actual && !rewrite && before.length === 0 ? singleRules(rules, actual) : undefined;
  if (repair && holds(chain, [...repair.missing, ...repair.kept])) {
    for (const rule of repair.surplus) script.delete(table, name, rule, owners.get(rule));
    for (const rule of [...repair.missing].reverse()) script.insert(table, name, rule, owners.get(rule));
    return;
  }
  if (actual) script.declare(table, name);
  for (const rule of before) script.append(table, name, rule);
  for (const { entry, owner } of entries) script.append(table, name, entry.rule, owner);
  for (const rule of after) script.append(table, name, rule);
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

/** All are emptied before any goes, since they lead to each other. */
function staleRemoval(
  image: IptablesImage,
  present: PresentTables,
  { chainsPerCommit, isServiceChain: isOurs = isServiceChain }: DifferenceOptions,
): RestoreScript {
  const wanted = new Set(image.chains.filter(({ table }) => table === 'nat').map(({ name }) => name));
  const stale = [...present.names('nat')].filter((name) => isOurs(name) && !wanted.has(name));
  const script = new RestoreScript();
  for (const step of ['declare', 'remove'] as const) {
    stale.forEach((name, index) => {
      if (index > 0 && index % chainsPerCommit === 0) script.commit();
      script[step]('nat', name);
    });
  }
  return script;
}
