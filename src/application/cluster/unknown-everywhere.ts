import type { UnknownName } from '../status/service-row.js';

/** The names that no node which answered knows. What one knows, exists. */
export function unknownEverywhere(answers: readonly (readonly UnknownName[])[]): readonly UnknownName[] {
  const counts = new Map<string, { readonly unknown: UnknownName; count: number }>();
  for (const names of answers)
    for (const unknown of names) {
      const known = counts.get(unknown.name) ?? { unknown, count: 0 };
      known.count++;
      counts.set(unknown.name, known);
    }
  return [...counts.values()].filter(({ count }) => count === answers.length).map(({ unknown }) => unknown);
}
