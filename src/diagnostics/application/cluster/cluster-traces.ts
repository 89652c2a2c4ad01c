import { grouped } from '../../../domain/model/maps.js';
import { hostPort } from '../../../domain/net/address.js';
import type { TraceOutcome } from '../../domain/trace/trace.js';
import type { FailedTrace } from '../trace/answer.js';
import type { TraceAnswer } from '../trace/answer.js';
import type { NodeAnswer } from './query-nodes.js';

/** What becomes of the packets of one query on each node. */
export interface ClusterTraces {
  /** Nodes on which the same becomes of them together, most nodes first. */
  readonly fates: readonly TraceVerdict[];
  /** Nodes that could not answer. */
  readonly failed: readonly { readonly node: string; readonly reason: string }[];
}

/** Something that becomes of packets. */
export interface TraceVerdict {
  readonly outcome: TraceOutcome;
  /** `10.244.1.5:8080`. */
  readonly endpoints: readonly string[];
  readonly sourceRewritten: TraceAnswer['sourceRewritten'];
  readonly nodes: readonly string[];
}

/** What is kept of an answer: the steps are those of one node. */
export type KeptTrace = FailedTrace | Omit<TraceVerdict, 'nodes'>;

export function keptTrace(answer: TraceAnswer | FailedTrace): KeptTrace {
  if ('error' in answer) return { error: answer.error };
  const { outcome, endpoints, sourceRewritten } = answer;
  return {
    outcome,
    endpoints: endpoints.map(({ address, port }) => hostPort(address, port)),
    sourceRewritten,
  };
}

export function clusterTraces(answers: readonly NodeAnswer<KeptTrace>[]): ClusterTraces {
  const traced = answers.flatMap(({ node, answer }) => ('error' in answer ? [] : [{ node, fate: answer }]));
  const alike = grouped(traced, ({ fate }) => JSON.stringify(fate));
  const fates = [...alike.values()].map((same) => ({
    ...same[0]!.fate,
    nodes: same.map(({ node }) => node),
  }));
  return {
    fates: fates.sort((one, other) => other.nodes.length - one.nodes.length),
    failed: answers.flatMap(({ node, answer }) =>
      'error' in answer ? [{ node, reason: answer.error }] : [],
    ),
  };
}
