import { nodeRules } from '../../domain/compare/node-rules.js';
import { both, fields, list, number, oneOf, optional, text } from '../../../domain/shape.js';
import { comparisonAnswer, reportedDifference } from '../comparison-report.js';
import type { NodeAnswer } from './query-nodes.js';
import type { AboutUnknown } from '../status/service-row.js';
import type { DifferenceReport } from '../difference/difference-report.js';

/** The output of `compare` on a node. */
type NodeComparison = ReturnType<typeof nodeComparison>;
export const nodeComparison = both(fields({ nodeRules }), comparisonAnswer);

/** A node's kernel, compared with the rules that are planned for it. */
export type ComparedNode = ReturnType<typeof comparedNode>;
const comparedNode = both(
  nodeRules,
  fields({
    node: text,
    /** Of the kernel's rules. */
    mode: text,
    result: oneOf('equal', 'different', 'unknown'),
    /** Why the planned mode cannot run there. */
    obstacle: optional(text),
    /** Known differences that are not expected. */
    knownDifferences: list(fields({ name: text, sentence: text })),
    /** Names of known differences that are expected. */
    expectedDifferences: list(text),
    differences: list(reportedDifference),
    /** Classes of packets that differ and are not listed. */
    omitted: number,
    /** Rules that are not understood. */
    unknownRules: list(text),
    notes: list(text),
  }),
);

export type ClusterComparison = ReturnType<typeof clusterComparisonAnswer>;
export const clusterComparisonAnswer = fields({ nodes: list(comparedNode) });

export function clusterComparison(answers: readonly NodeAnswer<NodeComparison>[]): ClusterComparison {
  return { nodes: answers.map(({ node, answer }) => compared(node, answer)) };
}

function compared(
  name: string,
  { nodeRules, obstacle, families, notes, problems }: NodeComparison,
): ComparedNode {
  const found = new Map(
    families.flatMap(({ knownDifferences }) => knownDifferences.map((each) => [each.name, each])),
  );
  const all = [...found.values()];
  const known = all.filter(({ expected }) => !expected);
  const differences = families.flatMap((family) =>
    family.differences.filter((each) => !each.knownDifference),
  );
  const unknowns = new Set(families.flatMap((family) => family.unknowns.map(({ rule }) => rule)));
  const differs = known.length > 0 || differences.length > 0 || obstacle !== undefined;
  return {
    ...nodeRules,
    node: name,
    mode: families[0]?.modes[0] ?? '-',
    result: differs ? 'different' : unknowns.size > 0 ? 'unknown' : 'equal',
    obstacle,
    knownDifferences: known.map((each) => ({ name: each.name, sentence: each.sentence })),
    expectedDifferences: all.flatMap((each) => (each.expected ? each.name : [])),
    differences,
    omitted: families.reduce((sum, { omitted }) => sum + omitted, 0),
    unknownRules: [...unknowns],
    notes: [...problems.map((problem) => `ignored: ${problem}`), ...notes, ...nodeRules.unread],
  };
}

/** Lines of one family that are kept of one node. */
const KEPT = 1_000;

/** Fewer lines, so that many nodes with very many fit into memory. */
export function shortened(report: DifferenceReport & AboutUnknown): DifferenceReport & AboutUnknown {
  return {
    ...report,
    families: report.families.map((family) => ({
      ...family,
      lines: family.lines.slice(0, KEPT),
      omitted: family.omitted + Math.max(0, family.lines.length - KEPT),
    })),
  };
}
