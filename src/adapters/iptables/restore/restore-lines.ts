import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { Chain, RuleText, TableName } from '../../../domain/iptables/table.js';

/** A line of a restore's input, and the service port for which it is. */
export interface RestoreLine {
  readonly text: string;
  readonly owner?: ServicePortKey | undefined;
  /** The kernel has this rule already. */
  readonly isKnown: boolean;
}

/**
 * Writes the lines of a restore's input, one after another. A commit is what the kernel takes as a whole; opening
 * another table, or the same one after `commit`, starts the next.
 */
export class RestoreLines {
  private open: TableName | undefined;
  private steps = 0;
  private commitCount = 0;
  private readonly ruleCounts = new Map<TableName, number>();

  /** @param take is given each line without its line feed */
  constructor(
    private readonly take: (text: string, owner: ServicePortKey | undefined, isKnown: boolean) => void,
  ) {}

  /** How many chains and rules were written so far. */
  get written(): number {
    return this.steps;
  }

  /** How many commits were begun so far. */
  get commits(): number {
    return this.commitCount;
  }

  /** How many rules were put into a table so far. */
  rules(table: TableName): number {
    return this.ruleCounts.get(table) ?? 0;
  }

  /** Opens the table, unless it is open; whether it was not. */
  begin(table: TableName): boolean {
    if (this.open === table) return false;
    this.commit();
    this.take(`*${table}`, undefined, false);
    this.open = table;
    this.commitCount++;
    return true;
  }

  /** Makes the chain, or empties it. */
  declare(table: TableName, chain: string, owner?: ServicePortKey): void {
    this.add(table, `:${chain} - [0:0]`, owner);
  }

  append(table: TableName, chain: string, rule: RuleText, owner?: ServicePortKey, isKnown = false): void {
    this.add(table, rule === '' ? `-A ${chain}` : `-A ${chain} ${rule}`, owner, isKnown);
    this.countRule(table);
  }

  /** Appends the rules of the chain, which is empty. */
  fill({ table, name, rules }: Chain, owner?: ServicePortKey): void {
    for (const rule of rules) this.append(table, name, rule, owner);
  }

  /** Puts the rule behind the first rules of the chain, by default at its head. */
  insert(table: TableName, chain: string, rule: RuleText, owner?: ServicePortKey, behind = 0): void {
    this.add(table, `-I ${chain} ${behind > 0 ? `${behind + 1} ` : ''}${rule}`, owner);
    this.countRule(table);
  }

  /** Deletes the first rule of that text. */
  delete(table: TableName, chain: string, rule: RuleText, owner?: ServicePortKey): void {
    this.add(table, `-D ${chain} ${rule}`, owner);
  }

  /** Deletes an empty chain. */
  remove(table: TableName, chain: string, owner?: ServicePortKey): void {
    this.add(table, `-X ${chain}`, owner);
  }

  /** Ends the open commit, if there is one. */
  commit(): void {
    if (this.open === undefined) return;
    this.take('COMMIT', undefined, false);
    this.open = undefined;
  }

  private countRule(table: TableName): void {
    this.ruleCounts.set(table, this.rules(table) + 1);
  }

  private add(table: TableName, text: string, owner: ServicePortKey | undefined, isKnown = false): void {
    this.begin(table);
    this.take(text, owner, isKnown);
    this.steps++;
  }
}
