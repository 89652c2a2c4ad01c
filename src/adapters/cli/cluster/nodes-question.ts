import type { NodeReply } from '../../../application/cluster/ask-nodes.js';
import type { Shape } from '../../../application/answers/shape.js';

/** Something that all nodes are asked, and what is made of their answers. One serves once. */
export interface NodesQuestion<Answer, Kept, Result> {
  /** The subcommand that each node's proxy is asked with. */
  readonly words: readonly string[];
  /** Milliseconds that a node may take; missing: the usual time. */
  readonly timeout?: number;
  readonly shape: Shape<Answer>;
  /** What is kept of a node's answer while the others are asked: answers may be large, and nodes many. */
  keep(answer: Answer, node: string): Kept | Promise<Kept>;
  result(replies: readonly NodeReply<Kept>[]): Result | Promise<Result>;
  text(result: Result, isWide: boolean): string;
  /** If any node has answered. */
  exitCode(result: Result): number;
}

/** For answers that are kept as they are. */
export const asItIs = <Answer>(answer: Answer): Answer => answer;
