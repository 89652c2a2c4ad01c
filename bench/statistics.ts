/** The median; of two in the middle the greater. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** The number below which this share of all numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * share)]!;
}

/** The smallest of each figure among several measurements of the same: the one that other programs delayed least. */
export function leastOfEach<Figures extends { readonly [figure in keyof Figures]: number | undefined }>(
  runs: readonly Figures[],
): Figures {
  const [first, ...others] = runs;
  const least: Record<string, number | undefined> = { ...first };
  for (const run of others)
    for (const [figure, value] of Object.entries<number | undefined>(run))
      if (value !== undefined) least[figure] = Math.min(value, least[figure] ?? Infinity);
  return least as Figures;
}
