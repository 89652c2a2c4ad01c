/**
 * Joins texts that are kept in large numbers. V8 stores the results of `+` and templates as trees of their parts, which take
 * several times as much memory; this result is one piece.
 */
export function flatText(...parts: readonly string[]): string {
  return parts.join('');
}
