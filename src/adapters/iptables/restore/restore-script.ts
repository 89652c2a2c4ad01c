import type { TableName } from '../../../domain/iptables/table.js';
import { RestoreLines, type RestoreLine } from './restore-lines.js';

const PIECE_LENGTH = 64 * 1024;
/** The work between two pieces takes a few milliseconds at most. */
const STEPS_PER_PIECE = 256;

/** Writes the same lines each time, as long as nothing that it reads changes. Yields wherever there may be a pause. */
export type WriteLines = (lines: RestoreLines) => Iterable<void>;

/** What stands on a line of a script. */
export interface PlacedLine extends RestoreLine {
  /** From 1, as the tools count. */
  readonly number: number;
  /** Which commit (from 0) it is in. */
  readonly commit: number;
}

/**
 * The input of a restore. It keeps how the text is written, not the text: that is made while the tool reads it, and made again
 * to see what stands on a line.
 */
export class RestoreScript {
  constructor(private readonly write: WriteLines) {}

  /** Whether there is nothing to write. Makes no more than the first line. */
  isEmpty(): boolean {
    let isEmpty = true;
    const lines = new RestoreLines(() => (isEmpty = false));
    for (const _ of this.write(lines)) if (!isEmpty) break;
    return isEmpty;
  }

  text(): RestoreText {
    return new RestoreText(this.write);
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
}

/**
 * The text of a script, in pieces of a size that is good to stream. It is made while it is iterated. A piece is empty when the
 * next one takes long to make, so that other work gets its turn; the piece that begins a commit does not wait.
 */
export class RestoreText implements Iterable<string> {
  private lines = new RestoreLines(() => undefined);

  constructor(private readonly write: WriteLines) {}

  /** How many chains and rules have been written. */
  get written(): number {
    return this.lines.written;
  }

  /** How many rules have been put into a table. */
  rules(table: TableName): number {
    return this.lines.rules(table);
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
