import { fields, flag, list, number, oneOf, optional, text } from '../../../domain/shape.js';
import { isNodeProblem } from '../../../application/status/port-status.js';
import type { NodeAnswer } from './ask-nodes.js';

/** What is shown of a proxy's status as it is. */
const shown = {
  state: oneOf('good', 'degraded', 'not-serving'),
  reasons: list(text),
  mode: text,
  inSync: flag,
  lag: number,
};

const limited = fields({ limitedBy: optional(oneOf('mode', 'node')) });

/** The part of a proxy's status that is read here: versions may differ. */
export type NodeStatus = ReturnType<typeof nodeStatus>;
export const nodeStatus = fields({
  ...shown,
  versions: fields({ program: text }),
  families: list(
    fields({
      failed: list(limited),
      /** Missing in answers of former versions. */
      degraded: optional(list(limited)),
      sync: fields({ drift: fields({ repaired: number }) }),
    }),
  ),
});

/** One node of a cluster. */
export interface NodeRow extends Pick<NodeStatus, keyof typeof shown> {
  readonly node: string;
  /** Of the program. */
  readonly version: string;
  /** Service ports that the node cannot serve as requested, over both families; without those whose Services are the cause. */
  readonly failing: number;
  /** Steps that were needed to repair rules which another program had changed, over both families, since the start. */
  readonly drift: number;
}

/** All nodes of a cluster. */
export interface ClusterStatus {
  /** Those that answered, problems first. */
  readonly nodes: readonly NodeRow[];
}

/** Problems first, otherwise in the order of the answers. */
export function clusterStatus(answers: readonly NodeAnswer<NodeStatus>[]): ClusterStatus {
  return { nodes: answers.map(rowOf).sort((a, b) => urgency(b) - urgency(a)) };
}

function rowOf({ node, answer }: NodeAnswer<NodeStatus>): NodeRow {
  const { state, versions, mode, inSync, lag, families, reasons } = answer;
  return {
    node,
    state,
    version: versions.program,
    mode,
    inSync,
    lag,
    failing: sum(
      families.map(
        ({ failed, degraded = [] }) =>
          failed.filter((port) => isNodeProblem('failed', port)).length +
          degraded.filter((port) => isNodeProblem('degraded', port)).length,
      ),
    ),
    drift: sum(families.map(({ sync }) => sync.drift.repaired)),
    reasons,
  };
}

/** A node that only waits is worth more of a look than one that does not. */
function urgency({ state, inSync }: NodeRow): number {
  return { 'not-serving': 2, degraded: 1, good: 0 }[state] * 2 + Number(!inSync);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
