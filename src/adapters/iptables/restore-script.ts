import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { RuleText, TableName } from '../../domain/iptables/table.js';

const TEXT_LENGTH = 64 * 1024;

/**
 * The input of a restore, line by line, and which service port each line is for. A commit is what the kernel takes as
 * a whole; opening another table, or the same one after `commit`, starts the next.
 */
export class RestoreScript {
  private readonly lines: string[] = [];
  private readonly owners = new Map<number, ServicePortKey>();
  private open: TableName | undefined;
  private steps = 0;
  private commitCount = 0;

  /** How many chains and rules it writes. */
  get written(): number {
    return this.steps;
  }

  get commits(): number {
    return this.commitCount;
  }

  get isEmpty(): boolean {
    return this.steps === 0;
  }

  /** Makes the chain, or empties it. */
  declare(table: TableName, chain: string, owner?: ServicePortKey): void {
    this.add(table, `:${chain} - [0:0]`, owner);
  }

  append(table: TableName, chain: string, rule: RuleText, owner?: ServicePortKey): void {
    this.add(table, rule === '' ? `-A ${chain}` : `-A ${chain} ${rule}`, owner);
  }

  /** Puts the rule at the head of the chain. */
  insert(table: TableName, chain: string, rule: RuleText, owner?: ServicePortKey): void {
    this.add(table, `-I ${chain} ${rule}`, owner);
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
    this.lines.push('COMMIT');
    this.open = undefined;
  }

  /** The service port for which a line (from 1) is. */
  owner(line: number): ServicePortKey | undefined {
    return this.owners.get(line);
  }

  /** Which commit (from 0) a line is in. */
  commitOf(line: number): number {
    let commit = -1;
    for (const text of this.lines.slice(0, line)) if (text.startsWith('*')) commit++;
    return commit;
  }

  /** The text of a line (from 1), for messages. */
  line(number: number): string | undefined {
    return this.lines[number - 1];
  }

  /** The text, in pieces of a size that is good to stream. */
  *text(): Iterable<string> {
    this.commit();
    let piece = '';
    for (const line of this.lines) {
      piece += `${line}\n`;
      if (piece.length < TEXT_LENGTH) continue;
      yield piece;
      piece = '';
    }
    if (piece !== '') yield piece;
  }

  private add(table: TableName, line: string, owner: ServicePortKey | undefined): void {
    if (this.open !== table) {
      this.commit();
      this.lines.push(`*${table}`);
      this.open = table;
      this.commitCount++;
    }
    this.lines.push(line);
    this.steps++;
    if (owner !== undefined) this.owners.set(this.lines.length, owner);
  }
}
