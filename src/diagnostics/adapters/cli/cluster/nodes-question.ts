import type { KeptAnswers, NodeAnswer, SilentNode } from '../../../application/cluster/ask-nodes.js';

/** What is made of the answers of nodes. One serves once. */
export interface NodesQuestion<Answer, Kept, Result extends object> extends KeptAnswers<Answer, Kept> {
  /** Milliseconds that a node may take; missing: the usual time. */
  readonly timeout?: number;
  /** @param silent those of all nodes asked that did not answer */
  result(answers: readonly NodeAnswer<Kept>[], silent: readonly SilentNode[]): Result | Promise<Result>;
  lines(result: Result, isWide: boolean): readonly string[];
  /** Of the objects that are listed, as kubectl writes them; missing: none are. */
  names?(result: Result): readonly string[];
  /** If all nodes have answered. */
  exitCode(result: Result): number;
  /** If only some have; missing: 1. */
  readonly incomplete?: number;
}
