import type { TableName } from '../../../domain/iptables/table.js';
import { RestoreLines, type RestoreLine } from './restore-lines.js';

const PIECE_LENGTH = 64 * 1024;
/** The work between two pieces takes a few milliseconds at most. */
const STEPS_PER_PIECE = 256;

/** Writes the same lines each time, as long as nothing changes that it reads. Yields wherever there may be a pause. */
export type WriteLines = (lines: RestoreLines) => Iterable<void>;

/** What stands on a line of a script. */
export interface PlacedLine extends RestoreLine {
  /** Which commit (from 0) it is in. */
  readonly commit: number;
}

/**
 * The input of a restore. What is kept is how it is written, not the text: that is made while the tool reads it, and made
 * again to see what stands on a line.
 */
export class RestoreScript {
  constructor(private readonly write: WriteLines) {}

  text(): RestoreText {
    return new RestoreText(this.write);
  }

  /** What stands on these lines (from 1). Goes through the whole script. */
  find(numbers: Iterable<number>): ReadonlyMap<number, PlacedLine> {
    const wanted = new Set(numbers);
    const found = new Map<number, PlacedLine>();
    let number = 0;
    const lines: RestoreLines = new RestoreLines((text, owner) => {
      if (wanted.has(++number)) found.set(number, { text, owner, commit: lines.commits - 1 });
    });
    const pauses = this.write(lines)[Symbol.iterator]();
    while (pauses.next().done !== true);
    return found;
  }
}

/**
 * The text of a script, in pieces of a size that is good to stream. It is made while it is gone through, once. A piece is
 * empty when it takes long to make the next one, so that others get their turn; that which begins a commit does not wait.
 */
export class RestoreText implements Iterable<string> {
  private piece: string[] = [];
  private length = 0;
  private readonly lines = new RestoreLines((text) => {
    this.piece.push(text);
    this.length += text.length + 1;
  });

  constructor(private readonly write: WriteLines) {}

  /** How many chains and rules are written so far. */
  get written(): number {
    return this.lines.written;
  }

  /** How many commits are begun so far. */
  get commits(): number {
    return this.lines.commits;
  }

  /** How many rules are put into a table so far. */
  rules(table: TableName): number {
    return this.lines.rules(table);
  }

  *[Symbol.iterator](): Generator<string> {
    let steps = 0;
    let begun = 0;
    for (const _ of this.write(this.lines)) {
      const begins = this.commits > begun;
      begun = this.commits;
      if (begins || ++steps % STEPS_PER_PIECE === 0 || this.length >= PIECE_LENGTH) yield this.take();
    }
    this.lines.commit();
    if (this.length > 0) yield this.take();
  }

  /** Goes through it up to the first piece with anything in it; that and the others, or undefined when there is none. */
  begun(): Iterable<string> | undefined {
    const pieces = this[Symbol.iterator]();
    for (let next = pieces.next(); next.done !== true; next = pieces.next())
      if (next.value !== '') return startingWith(next.value, pieces);
    return undefined;
  }

  private take(): string {
    const { piece } = this;
    this.piece = [];
    this.length = 0;
    return piece.length === 0 ? '' : `${piece.join('\n')}\n`;
  }
}

function* startingWith(first: string, rest: Iterable<string>): Generator<string> {
  yield first;
  yield* rest;
}
