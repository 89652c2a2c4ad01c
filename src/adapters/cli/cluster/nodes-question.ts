import type { Shape } from '../../../domain/shapes/shape.js';
import type { NodeAnswer, SilentNode } from '../../../application/cluster/ask-nodes.js';

/** What is made of the answers of nodes. One serves once. */
export interface NodesQuestion<Answer, Kept, Result extends object> {
  /** Milliseconds that a node may take; missing: the usual time. */
  readonly timeout?: number;
  readonly shape: Shape<Answer>;
  /** What is kept of a node's answer while the others are asked: answers may be large, and nodes many. */
  keep(answer: Answer, node: string): Kept | Promise<Kept>;
  /** @param silent those of all nodes asked that did not answer */
  result(answers: readonly NodeAnswer<Kept>[], silent: readonly SilentNode[]): Result | Promise<Result>;
  lines(result: Result, isWide: boolean): readonly string[];
  /** If all nodes have answered. */
  exitCode(result: Result): number;
  /** If only some have; missing: 1. */
  readonly incomplete?: number;
}
