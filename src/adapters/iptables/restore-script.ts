/** The input of iptables-restore: scripts, and the lines and chains that they write. */

import type { DesiredSharedChain } from '../../domain/iptables/desired-state.js';
import type { TableName, Chain, RuleText } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

const PIECE_LENGTH = 64 * 1024;

/** The work between two pieces takes a few milliseconds at most. */
const STEPS_PER_PIECE = 256;

/** Writes the same lines each time, as long as nothing that it reads changes. Yields wherever there may be a pause. */
type WriteLines = (lines: RestoreLines) => Iterable<void>;

/** The content of a line of a script. */
export interface PlacedLine {
  /** From 1, as the tools count. */
  readonly number: number;
  /** Which commit (from 0) it is in. */
  readonly commit: number;
  readonly text: string;
  readonly owner: ServicePortKey | undefined;
  /** The kernel has this rule already. */
  readonly isKnown: boolean;
}

/**
 * The input of a restore, in pieces of a size that is good to stream. It keeps how the text is written, not the text: that is made
 * while the tool reads it, and made again to see what stands on a line. A piece is empty when the next one takes long to make, so that
 * other work gets its turn; the piece that begins a commit does not wait.
 */
export class RestoreScript implements Iterable<string> {
  private lines = new RestoreLines(() => undefined);

  constructor(private readonly write: WriteLines) {}

  /** Whether there is nothing to write. Makes no more than the first line. */
  isEmpty(): boolean {
    let isEmpty = true;
    const lines = new RestoreLines(() => (isEmpty = false));
    for (const _ of this.write(lines)) if (!isEmpty) break;
    return isEmpty;
  }

  /** How many chains and rules have been written by the last iteration. */
  get written(): number {
    return this.lines.written;
  }

  /** How many rules have been put into a table by the last iteration. */
  rules(table: TableName): number {
    return this.lines.rules(table);
  }

  /** Hands over every line. */
  forEachLine(take: (line: PlacedLine) => void): void {
    let number = 0;
    const lines: RestoreLines = new RestoreLines((text, owner, isKnown) =>
      take({ number: ++number, text, owner, isKnown, commit: lines.commits - 1 }),
    );
    for (const _ of this.write(lines));
    lines.commit();
  }

  *[Symbol.iterator](): Generator<string> {
    const pending: string[] = [];
    let length = 0;
    const take = () => {
      length = 0;
      return pending.splice(0).join('');
    };
    const lines = (this.lines = new RestoreLines((line) => {
      pending.push(line, '\n');
      length += line.length + 1;
    }));
    let steps = 0;
    let begun = 0;
    for (const _ of this.write(lines)) {
      const begins = lines.commits > begun;
      begun = lines.commits;
      if (begins || ++steps % STEPS_PER_PIECE === 0 || length >= PIECE_LENGTH) yield take();
    }
    lines.commit();
    if (length > 0) yield take();
  }
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

  /** Puts the rule at the head of the chain. */
  insert(table: TableName, chain: string, rule: RuleText, owner?: ServicePortKey): void {
    this.add(table, `-I ${chain} ${rule}`, owner);
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

interface ChainToWrite {
  readonly chain: Chain;
  readonly owner?: ServicePortKey | undefined;
}

interface ChainToRemove extends Pick<Chain, 'table' | 'name'> {
  readonly owner?: ServicePortKey;
  /** Rules of others lead to it: it is emptied only. */
  readonly isKept?: boolean;
}

/** At most this many chains are gathered before any is written: the more, the better their order. */
const MOST_GATHERED = 2_000;

/**
 * Empties the chains, or makes them, and fills them, in groups of which all are declared before any rule, since rules lead
 * from one chain to another of the same owner. Chains of one owner, which must stand together, are in one group. Each
 * group is a commit where commits must be small.
 */
export function* writeChains(
  lines: RestoreLines,
  chains: Iterable<ChainToWrite>,
  chainsPerCommit: number,
): Generator<void> {
  const size = Math.min(chainsPerCommit, MOST_GATHERED);
  let group: ChainToWrite[] = [];
  for (const each of chains) {
    // The tool reads the kernel's table as soon as its name is known, while the chains are created.
    if (lines.begin(each.chain.table)) yield;
    if (group.length >= size && each.owner !== group.at(-1)!.owner) {
      yield* writeGroup(lines, group);
      if (size === chainsPerCommit) lines.commit();
      group = [];
    }
    group.push(each);
    yield;
  }
  yield* writeGroup(lines, group);
}

/**
 * Of several chains of one name the last is written. The alphabetically last goes first: iptables-legacy keeps chains in order of
 * their names, and looks from the start for the place of a new one; and it looks up the chain of each rule, which is in the
 * processor's cache when the rule before was near.
 */
function* writeGroup(lines: RestoreLines, group: readonly ChainToWrite[]): Generator<void> {
  const byName = new Map(group.map((each) => [each.chain.name, each]));
  // A comparison function of our own would take as long as everything else about the chains.
  const names = [...byName.keys()].sort().reverse();
  const ordered = names.map((name) => byName.get(name)!);
  for (const { chain, owner } of ordered) lines.declare(chain.table, chain.name, owner);
  for (const { chain, owner } of ordered) {
    lines.fill(chain, owner);
    yield;
  }
}

/**
 * Fills a shared chain, which is empty.
 * @param known rules that the kernel has already: none of their service ports is a suspect
 */
export function* fillShared(
  lines: RestoreLines,
  { table, name, entries, after }: DesiredSharedChain,
  known: ReadonlySet<RuleText> = new Set(),
): Generator<void> {
  for (const { entry, owner } of entries) {
    lines.append(table, name, entry.rule, owner, known.has(entry.rule));
    yield;
  }
  for (const rule of after) lines.append(table, name, rule);
}

/** Removes chains. All are emptied before any goes, since they lead to each other. */
export function* removeChains(
  lines: RestoreLines,
  chains: readonly ChainToRemove[],
  chainsPerCommit: number,
): Generator<void> {
  for (const [index, { table, name, owner }] of chains.entries()) {
    if (index > 0 && index % chainsPerCommit === 0) lines.commit();
    lines.declare(table, name, owner);
    yield;
  }
  for (const [index, { table, name, owner, isKept }] of chains.entries()) {
    if (index > 0 && index % chainsPerCommit === 0) lines.commit();
    if (!isKept) lines.remove(table, name, owner);
    yield;
  }
}
