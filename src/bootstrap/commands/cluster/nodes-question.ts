import {
  compareExplanations,
  type ClusterExplanation,
} from '../../../application/cluster/cluster-explanation.js';
import { clusterExplanationText } from '../../../application/cluster/cluster-explanation-text.js';
import type { NodeReply } from '../../../application/cluster/ask-nodes.js';
import {
  clusterStatus,
  type ClusterStatus,
  type NodeStatus,
} from '../../../application/cluster/cluster-status.js';
import {
  sumTraffic,
  type ClusterTraffic,
  type NodeTraffic,
} from '../../../application/cluster/cluster-traffic.js';
import type { Explanation } from '../../../application/explain/explanation.js';
import { clusterStatusText } from './cluster-status-text.js';
import { clusterTrafficText } from './cluster-traffic-text.js';

/** Something that all nodes are asked, and what is made of their answers. */
export interface NodesQuestion<Answer, Result> {
  /** The subcommand that each node's proxy is asked with. */
  readonly words: readonly string[];
  result(replies: readonly NodeReply<Answer>[]): Result;
  text(result: Result, isWide: boolean): string;
  /** If any node has answered. */
  exitCode(result: Result): number;
}

/** 0 when all nodes are good, 1 when some are degraded, 2 when some do not serve or do not answer. */
export const statusQuestion: NodesQuestion<NodeStatus, ClusterStatus> = {
  words: ['status', '-o', 'json'],
  result: clusterStatus,
  text: clusterStatusText,
  exitCode({ nodes, silent }) {
    const states = new Set(nodes.map(({ state }) => state));
    if (silent.length > 0 || states.has('not-serving')) return 2;
    return states.has('degraded') ? 1 : 0;
  },
};

/** 0 when all nodes have programmed the Service alike, otherwise 1. */
export function explainQuestion(service: string): NodesQuestion<Explanation, ClusterExplanation> {
  return {
    words: ['explain', service, '-o', 'json'],
    result: (replies) => compareExplanations(service, replies),
    text: clusterExplanationText,
    exitCode: ({ known, alike, asked }) => (known && alike === asked ? 0 : 1),
  };
}

/** 0 when all nodes answer, otherwise 1. */
export const topQuestion: NodesQuestion<NodeTraffic, ClusterTraffic> = {
  words: ['top', '--once', '-o', 'json'],
  result: sumTraffic,
  text: clusterTrafficText,
  exitCode: ({ silent }) => (silent.length > 0 ? 1 : 0),
};
