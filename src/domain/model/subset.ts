const NONE: readonly never[] = [];

/**
 * The members that pass. Returns the list itself if all do, and always the same empty list if none does: each service port
 * keeps several such lists.
 */
export function subset<T, Passed extends T>(
  list: readonly T[],
  passes: (member: T) => member is Passed,
): readonly Passed[];
export function subset<T>(list: readonly T[], passes: (member: T) => boolean): readonly T[];
export function subset<T>(list: readonly T[], passes: (member: T) => boolean): readonly T[] {
  // Nearly always all pass: then nothing is allocated.
  if (list.every(passes)) return list;
  const chosen = list.filter(passes);
  // A filtered list reserves more memory than it needs; a copy does not.
  return chosen.length === 0 ? NONE : chosen.slice();
}
