import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { elementOfLine, renderOperation } from '../../../domain/nftables/text/render-text.js';
import { UnsafeTextError } from '../../../domain/nftables/text/safe-text.js';
import type { Operation } from '../../../domain/nftables/layout/table.js';
import { NftCommitError, type NftFailure } from '../transport.js';

const PIECE_LENGTH = 64 * 1024;

/** A transaction written out for `nft -f`. */
export class NftScript {
  constructor(
    readonly pieces: readonly string[],
    private readonly operations: readonly Operation[],
    /** The line (from 0) on which each operation begins. */
    private readonly firstLines: readonly number[],
  ) {}

  /** The operation, and if possible the element, on a line (from 1). */
  locate(line: number): { operation: number; element?: number } | undefined {
    const index = line - 1;
    let low = 0;
    let high = this.firstLines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.firstLines[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    const operation = low - 1;
    if (operation < 0) return undefined;
    const element = elementAt(this.operations[operation]!, index - this.firstLines[operation]!);
    return element === undefined ? { operation } : { operation, element };
  }
}

function elementAt(operation: Operation, line: number): number | undefined {
  if (operation.op !== 'add-elements' && operation.op !== 'delete-elements') return undefined;
  const element = elementOfLine(line);
  return element !== undefined && element < operation.elements.length ? element : undefined;
}

/**
 * Writes the operations out, yielding to the event loop between pieces. Everything is written before nft starts: an
 * error half-way must not leave nft with half a transaction, which it would commit. Throws NftCommitError for text that
 * must not reach nft, naming every operation that contains some.
 */
export async function writeScript(family: IpFamily, operations: readonly Operation[]): Promise<NftScript> {
  const pieces: string[] = [];
  const firstLines: number[] = [];
  const failures: NftFailure[] = [];
  let piece = '';
  let line = 0;
  for (const [operation, described] of operations.entries()) {
    firstLines.push(line);
    try {
      for (const text of renderOperation(family, described)) {
        piece += `${text}\n`;
        line++;
        if (piece.length < PIECE_LENGTH) continue;
        pieces.push(piece);
        piece = '';
        await yieldToEventLoop();
      }
    } catch (error) {
      if (!(error instanceof UnsafeTextError)) throw error;
      const element = elementAt(described, line - firstLines[operation]!);
      failures.push({ operation, ...(element !== undefined && { element }), reason: error.message });
    }
  }
  if (failures.length > 0) throw new NftCommitError(family, failures);
  if (piece !== '') pieces.push(piece);
  return new NftScript(pieces, operations, firstLines);
}
