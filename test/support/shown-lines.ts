import { linesText, written } from '../../src/diagnostics/adapters/cli/output.js';

/** Lines of a command as they are printed where there are no colors. */
export function shownLines(lines: readonly string[]): string {
  return written(linesText(lines));
}
