import { inToneOf } from '../../output/tones.js';
import type { ClusterTraces, Fate } from '../../../../application/cluster/cluster-traces.js';
import { grouped, named } from './grouped-nodes.js';

const SOURCES = { true: 'the source is rewritten', false: 'the source is kept', mixed: 'the source depends' };

/** For people. */
export function clusterTracesLines({ fates, failed }: ClusterTraces, isWide: boolean): readonly string[] {
  return [
    ...fates.flatMap((fate) => [
      `${inToneOf(fate.outcome)}: ${isWide ? fate.nodes.join(', ') : named(fate.nodes)}`,
      ...leadsTo(fate),
    ]),
    ...grouped(inToneOf('failed'), failed, ({ reason }) => reason),
  ];
}

function leadsTo({ endpoints, sourceRewritten }: Fate): readonly string[] {
  if (endpoints.length === 0) return [];
  return [`  to ${named(endpoints)}; ${SOURCES[`${sourceRewritten}`]}`];
}
