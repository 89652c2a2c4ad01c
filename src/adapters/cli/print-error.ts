import { printable } from '../process/quote.js';

/** Writes one line, without its end, to standard error. The output is always one line without control characters. */
export function printError(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}
