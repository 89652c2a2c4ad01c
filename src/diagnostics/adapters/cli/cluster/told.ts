import type { SilentNode } from '../../../application/cluster/ask-nodes.js';
import { CANNOT_ASK } from '../asking/cannot-ask-error.js';
import type { NodesQuestion } from './nodes-question.js';

/** What all nodes have said, and those that have not. */
export interface Told {
  readonly put: NodesQuestion<unknown, unknown, object>;
  readonly result: object & { readonly silent: readonly SilentNode[] };
  readonly answered: number;
  /** What cannot be said of the nodes, for people. */
  readonly unknown: readonly string[];
}

/** Asks all nodes with these words of the command line. */
export type AskNodes = (put: Told['put'], words: readonly string[]) => Promise<Told>;

/** That of the question, or 3 when no node answers. */
export function exitCode({ put, result, answered }: Told): number {
  if (answered === 0) return CANNOT_ASK;
  return result.silent.length > 0 ? (put.incomplete ?? 1) : put.exitCode(result);
}
