import { linesText } from '../../src/diagnostics/adapters/cli/output/formatted.js';
import { written } from '../../src/diagnostics/adapters/cli/output/tones.js';

/** Lines of a command as they are printed where there are no colors. */
export function shownLines(lines: readonly string[]): string {
  return written(linesText(lines));
}
