import { nodeRules, type NodeRules } from '../../domain/compare/node-rules.js';
import { both, fields } from '../../../domain/shape.js';
import { comparisonAnswer, type ReportedDifference } from '../comparison-report.js';
import type { NodeAnswer } from './query-nodes.js';
import type { AboutUnknown } from '../status/service-row.js';
import type { DifferenceReport } from '../difference/difference-report.js';

/** The output of `compare` on a node. */
type NodeComparison = ReturnType<typeof nodeComparison>;
export const nodeComparison = both(fields({ nodeRules }), comparisonAnswer);

/** A node's kernel, compared with the rules that are planned for it. */
export interface ComparedNode extends NodeRules {
  readonly node: string;
  /** Of the kernel's rules. */
  readonly mode: string;
  readonly result: 'equal' | 'different' | 'unknown';
  /** Why the planned mode cannot run there. */
  readonly obstacle?: string | undefined;
  /** Known differences that are not expected. */
  readonly known: readonly { readonly name: string; readonly sentence: string }[];
  /** Names of known differences that are expected. */
  readonly expected: readonly string[];
  readonly differences: readonly ReportedDifference[];
  /** Classes of packets that differ and are not listed. */
  readonly unlisted: number;
  /** What of the rules is not understood. */
  readonly unknowns: readonly string[];
  readonly notes: readonly string[];
}

export interface ClusterComparison {
  readonly nodes: readonly ComparedNode[];
}

export function clusterComparison(answers: readonly NodeAnswer<NodeComparison>[]): ClusterComparison {
  return { nodes: answers.map(({ node, answer }) => comparedNode(node, answer)) };
}

function comparedNode(
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
    known: known.map((each) => ({ name: each.name, sentence: each.sentence })),
    expected: all.flatMap((each) => (each.expected ? each.name : [])),
    differences,
    unlisted: families.reduce((sum, { omitted }) => sum + omitted, 0),
    unknowns: [...unknowns],
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
