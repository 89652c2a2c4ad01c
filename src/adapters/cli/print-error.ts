import { printable } from '../process/quote.js';

/** Writes one line, without its end, to standard error. Whatever is in it, it stays one line and controls no terminal. */
export function printError(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}
