import { NamedError } from '../../../../domain/model/named-error.js';

/** A line has no end where one is due. */
class LineTooLongError extends NamedError {
  constructor(longest: number) {
    super(`a line has more than ${longest} characters`);
  }
}

/**
 * The lines of a text in UTF-8, without their ends, as they come.
 * @param longest characters of a line; many more are never kept
 * @throws LineTooLongError, and what the source throws
 */
export async function* limitedLines(
  source: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const piece of source) {
    const [end = '', ...next] = decoder.decode(piece, { stream: true }).split('\n');
    begun += end;
    for (const line of next) {
      yield withoutReturn(begun);
      begun = line;
    }
    if (begun.length > longest) throw new LineTooLongError(longest);
  }
  if (begun !== '') yield withoutReturn(begun);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
