import type { AboutUnknown } from '../status/service-row.js';
import { isNone, type DifferenceReport } from '../difference/difference-report.js';
import type { UnknownName } from '../status/service-row.js';
import type { NodeAnswer } from './ask-nodes.js';
import { unknownEverywhere } from './unknown-everywhere.js';

/** What the kernels of a cluster have otherwise than desired. */
export interface ClusterDifferences {
  /** Nodes that were asked. */
  readonly asked: number;
  /** Nodes without a difference. */
  readonly alike: number;
  readonly different: readonly NodeDifferences[];
  /** The Service that was asked about, if no node knows it. */
  readonly unknown: readonly UnknownName[];
}

/** What one node's kernel has otherwise, or why that is not known. */
export interface NodeDifferences extends DifferenceReport {
  readonly node: string;
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

export function clusterDifferences(
  answers: readonly NodeAnswer<DifferenceReport & AboutUnknown>[],
  asked: number,
): ClusterDifferences {
  const different = answers.flatMap(({ node, answer: { mode, families } }) =>
    isNone({ mode, families }) ? [] : [{ node, mode, families }],
  );
  return {
    asked,
    alike: answers.length - different.length,
    different,
    unknown: unknownEverywhere(answers.map(({ answer }) => answer.unknown ?? [])),
  };
}
