import { traceAnswer, type FailedTrace } from '../../../../application/trace/answer.js';
import {
  clusterTraces,
  keptTrace,
  type ClusterTraces,
  type KeptTrace,
} from '../../../../application/cluster/cluster-traces.js';
import { clusterTracesText } from '../../texts/cluster-traces-text.js';
import type { TraceAnswer } from '../../../../application/trace/answer.js';
import type { TracedRules } from '../../../../application/trace/trace-packets.js';
import { destinationText, sourceText, type TraceQuery } from '../../../../domain/trace/query.js';
import type { NodesQuestion } from '../nodes-question.js';

/** 0 when all nodes can tell what becomes of the packet there, otherwise 1. */
export function traceQuestion(
  query: TraceQuery,
  rules: TracedRules,
): NodesQuestion<TraceAnswer | FailedTrace, KeptTrace, ClusterTraces> {
  const asked = ['--from', sourceText(query.from), '--to', destinationText(query)];
  return {
    words: ['trace', ...asked, ...(rules === 'actual' ? ['--kernel'] : []), '-o', 'json'],
    shape: traceAnswer,
    keep: keptTrace,
    result: clusterTraces,
    text: clusterTracesText,
    exitCode: ({ failed, silent }) => (failed.length + silent.length > 0 ? 1 : 0),
  };
}
