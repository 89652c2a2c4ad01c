import { counted } from '../../../application/words/counted.js';
import { differenceText } from './difference-text.js';
import type { ClusterDifferences } from '../../../application/cluster/cluster-differences.js';
import { grouped } from './grouped-nodes.js';

/** For people, several lines, each with its end. */
export function clusterDifferencesText({ asked, alike, different, silent }: ClusterDifferences): string {
  const lines = [
    `no difference on ${alike} of ${counted(asked, 'node')}`,
    ...different.flatMap(({ node, ...report }) => [
      `${node}:`,
      ...differenceText(report)
        .trimEnd()
        .split('\n')
        .map((line) => `  ${line}`),
    ]),
    ...grouped('no answer', silent, ({ reason }) => reason),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
