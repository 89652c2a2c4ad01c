import { nodeStatus } from '../../../../application/cluster/cluster-status.js';
import {
  clusterStatus,
  type ClusterStatus,
  type NodeStatus,
} from '../../../../application/cluster/cluster-status.js';
import { clusterStatusText } from '../../texts/cluster-status-text.js';
import { asItIs, type NodesQuestion } from '../nodes-question.js';

/** 0 when all nodes are good, 1 when some are degraded, 2 when some do not serve or do not answer. */
export const statusQuestion: NodesQuestion<NodeStatus, NodeStatus, ClusterStatus> = {
  words: ['status', '-o', 'json'],
  shape: nodeStatus,
  keep: asItIs,
  result: clusterStatus,
  text: clusterStatusText,
  exitCode({ nodes, silent }) {
    const states = new Set(nodes.map(({ state }) => state));
    if (silent.length > 0 || states.has('not-serving')) return 2;
    return states.has('degraded') ? 1 : 0;
  },
};
