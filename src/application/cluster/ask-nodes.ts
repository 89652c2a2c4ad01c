import { NoAnswerError, type NodeProxy, type Silence } from '../ports/node-proxies.js';

/** What one node's proxy said. */
export type NodeReply<Answer> = NodeAnswer<Answer> | SilentNode;

export interface NodeAnswer<Answer> {
  readonly node: string;
  readonly answer: Answer;
}

/** A node whose proxy did not answer, and why. */
export interface SilentNode {
  readonly node: string;
  readonly silence: Silence;
  readonly reason: string;
}

/**
 * Asks proxies the same, at most `parallel` at a time. Replies come in the order of the nodes' names. The caller vouches for the
 * type of the answers.
 */
export async function askNodes<Answer>(
  proxies: readonly NodeProxy[],
  question: readonly string[],
  parallel: number,
): Promise<readonly NodeReply<Answer>[]> {
  const replies: NodeReply<Answer>[] = [];
  const waiting = proxies.values();
  const worker = async (): Promise<void> => {
    for (const proxy of waiting) replies.push(await replyOf<Answer>(proxy, question));
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return replies.sort((a, b) => inOrder(a.node, b.node));
}

export function answersOf<Answer>(replies: readonly NodeReply<Answer>[]): readonly NodeAnswer<Answer>[] {
  return replies.filter((reply) => 'answer' in reply);
}

export function silentOf(replies: readonly NodeReply<unknown>[]): readonly SilentNode[] {
  return replies.filter((reply) => 'silence' in reply);
}

async function replyOf<Answer>(proxy: NodeProxy, question: readonly string[]): Promise<NodeReply<Answer>> {
  const { node } = proxy;
  try {
    return { node, answer: (await proxy.ask(question)) as Answer };
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return { node, silence: error.silence, reason: error.message };
  }
}

const order = new Intl.Collator('en', { numeric: true });

/** node-2 before node-10. */
function inOrder(a: string, b: string): number {
  return order.compare(a, b);
}
