import { inToneOf } from '../../output/tones.js';
import { counted } from '../../../../../application/words/counted.js';
import type {
  ClusterExplanation,
  NodeDifference,
} from '../../../../application/cluster/cluster-explanation.js';
import { grouped, named } from './grouped-nodes.js';

/** Differences of a node that are listed before the rest is only counted, unless all are asked for. */
const LISTED = 3;

/** A comparison for people. */
export function clusterExplanationLines(compared: ClusterExplanation, isWide: boolean): readonly string[] {
  const { service, asked, alike, known, problems, behind, failed, degraded, different } = compared;
  const on = `on ${alike} of ${counted(asked, 'node')}`;
  const late = behind.map(({ node, seconds }) =>
    seconds === undefined ? node : `${node} (${seconds.toFixed(1)} s)`,
  );
  return [
    known
      ? `${service}: programmed alike ${on}`
      : `${service}: not served ${on}; \`kubeproxy explain\` on a node says why`,
    ...problems.map((problem) => `problem: ${problem}`),
    ...grouped(inToneOf('failed'), failed, ({ reasons }) => reasons.join('; ')),
    ...grouped(inToneOf('degraded'), degraded, ({ reasons }) => reasons.join('; ')),
    ...(late.length > 0 ? [`behind: ${isWide ? late.join(', ') : named(late)}`] : []),
    ...grouped(inToneOf('different'), different, (difference) => differenceLines(difference, isWide)),
  ];
}

function differenceLines({ lacks, has }: NodeDifference, isWide: boolean): string {
  const facts = [...lacks.map((fact) => `lacks ${fact}`), ...has.map((fact) => `has ${fact}`)];
  const more = isWide ? 0 : facts.length - LISTED;
  return (more > 1 ? [...facts.slice(0, LISTED), `${more} more`] : facts).join('; ');
}
