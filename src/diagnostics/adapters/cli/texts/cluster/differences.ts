import { counted } from '../../../../../application/words/counted.js';
import { differenceLines } from '../difference.js';
import type { ClusterDifferences } from '../../../../application/cluster/cluster-differences.js';

/** For people. */
export function clusterDifferencesLines({ asked, alike, different }: ClusterDifferences): readonly string[] {
  return [
    `no difference on ${alike} of ${counted(asked, 'node')}`,
    ...different.flatMap(({ node, ...report }) => [
      `${node}:`,
      ...differenceLines(report).map((line) => `  ${line}`),
    ]),
  ];
}
