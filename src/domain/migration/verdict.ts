import type { InspectedDifference, Inspection } from './inspection.js';

/** The name by which `--expect` accepts what is not understood. */
export const UNKNOWN = 'unknown';

/** What stands against a move of a node, or nothing. */
export interface Verdict {
  readonly result: 'equal' | 'different' | 'unknown';
  /** Known differences that nobody accepted, by name. */
  readonly known: readonly { readonly name: string; readonly sentence: string }[];
  /** Known differences that were, and `unknown`. */
  readonly accepted: readonly string[];
  readonly differences: readonly InspectedDifference[];
  /** Differences beyond those. */
  readonly omitted: number;
  /** What is not understood, unless that was accepted. */
  readonly unknowns: readonly string[];
  /** Why the mode cannot run there. */
  readonly obstacle?: string;
}

/** Judges what a node said. @param expected names of known differences, or `unknown` */
export function judge({ facts, comparison }: Inspection, expected: ReadonlySet<string>): Verdict {
  const families = comparison?.families ?? [];
  const found = new Map(
    families.flatMap((family) => family.known.map(({ name, sentence }) => [name, { name, sentence }])),
  );
  const known = [...found.values()].filter(({ name }) => !expected.has(name));
  const differences = families.flatMap((family) => family.differences);
  const all = families.flatMap(({ unknowns }) => unknowns);
  const unknowns = expected.has(UNKNOWN) ? [] : [...new Set(all)];
  const { obstacle } = facts;
  const differs = known.length > 0 || differences.length > 0 || obstacle !== undefined;
  return {
    result: differs ? 'different' : unknowns.length > 0 ? 'unknown' : 'equal',
    known,
    accepted: [...found.keys(), ...(all.length > 0 ? [UNKNOWN] : [])].filter((name) => expected.has(name)),
    differences,
    omitted: families.reduce((sum, { omitted }) => sum + omitted, 0),
    unknowns,
    ...(obstacle !== undefined && { obstacle }),
  };
}

/** In one line, for people. */
export function verdictWords({ known, accepted, differences, omitted, unknowns, obstacle }: Verdict): string {
  const services = [...new Set(differences.map(({ service }) => service))];
  const more = services.length > 3 || omitted > 0 ? ' and more' : '';
  const words = [
    ...(obstacle === undefined ? [] : [`cannot run: ${obstacle}`]),
    ...(services.length > 0 ? [`differs for ${services.slice(0, 3).join(', ')}${more}`] : []),
    ...(known.length > 0 ? [`known differences ${known.map(({ name }) => name).join(', ')}`] : []),
    ...(unknowns.length > 0 ? [`not understood: ${unknowns.length}`] : []),
  ];
  return words.length > 0
    ? words.join('; ')
    : accepted.length > 0
      ? 'nothing but what is expected'
      : 'nothing';
}
