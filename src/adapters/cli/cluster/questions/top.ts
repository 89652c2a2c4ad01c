import { nodeTraffic } from '../../../../application/cluster/cluster-traffic.js';
import {
  sumTraffic,
  type ClusterTraffic,
  type NodeTraffic,
} from '../../../../application/cluster/cluster-traffic.js';
import { clusterTrafficText } from '../../texts/cluster-traffic-text.js';
import { asItIs, type NodesQuestion } from '../nodes-question.js';

/** 0 when all nodes answer, otherwise 1. */
export const topQuestion: NodesQuestion<NodeTraffic, NodeTraffic, ClusterTraffic> = {
  words: ['top', '--once', '-o', 'json'],
  shape: nodeTraffic,
  keep: asItIs,
  result: sumTraffic,
  text: clusterTrafficText,
  exitCode: ({ silent }) => (silent.length > 0 ? 1 : 0),
};
