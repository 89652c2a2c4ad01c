const NONE: readonly never[] = [];

/**
 * The members that pass. The list itself where all do, and always the same empty list where none does: there are several
 * such lists for each service port, and they are kept.
 */
export function subset<T, Passed extends T>(
  list: readonly T[],
  passes: (member: T) => member is Passed,
): readonly Passed[];
export function subset<T>(list: readonly T[], passes: (member: T) => boolean): readonly T[];
export function subset<T>(list: readonly T[], passes: (member: T) => boolean): readonly T[] {
  const chosen = list.filter(passes);
  if (chosen.length === list.length) return list;
  // A filtered list has room for more than it holds; a copy has not.
  return chosen.length === 0 ? NONE : chosen.slice();
}
