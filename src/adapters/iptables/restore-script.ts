import type { TableName } from '../../domain/iptables/table.js';
import { RestoreLines, type RestoreLine } from './restore-lines.js';

const PIECE_LENGTH = 64 * 1024;

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
      number++;
      if (wanted.has(number)) found.set(number, { text, owner, commit: lines.commits - 1 });
    });
    const pauses = this.write(lines)[Symbol.iterator]();
    while (pauses.next().done !== true);
    return found;
  }
}

/** The text of a script, in pieces of a size that is good to stream. It is made while it is gone through, once. */
export class RestoreText implements Iterable<string> {
  private piece = '';
  private readonly lines = new RestoreLines((text) => (this.piece += `${text}\n`));

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
    for (const _ of this.write(this.lines)) if (this.piece.length >= PIECE_LENGTH) yield this.take();
    this.lines.commit();
    if (this.piece !== '') yield this.take();
  }

  private take(): string {
    const { piece } = this;
    this.piece = '';
    return piece;
  }
}
