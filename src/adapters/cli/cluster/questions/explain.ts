import { serviceExplanation } from '../../../../application/explain/explanation.js';
import {
  compareExplanations,
  type ClusterExplanation,
} from '../../../../application/cluster/cluster-explanation.js';
import { clusterExplanationText } from '../../texts/cluster-explanation-text.js';
import type { Explanation } from '../../../../application/explain/explanation.js';
import type { ServiceKey } from '../../../../domain/model/service-port-name.js';
import { asItIs, type NodesQuestion } from '../nodes-question.js';

/** 0 when all nodes have programmed the Service alike, otherwise 1. */
export function explainQuestion(
  service: ServiceKey,
): NodesQuestion<Explanation, Explanation, ClusterExplanation> {
  return {
    words: ['explain', service, '-o', 'json'],
    shape: serviceExplanation,
    keep: asItIs,
    result: (replies) => compareExplanations(service, replies),
    text: clusterExplanationText,
    exitCode: ({ known, alike, asked }) => (known && alike === asked ? 0 : 1),
  };
}
