import { AnswerError, parseAnswer } from '../answers/parse-answer.js';
import type { Shape } from '../answers/shape.js';
import { cutText } from '../cut-text.js';
import { NoAnswerError, type NodeProxy, type ProxyQuestion, type Silence } from '../ports/node-proxies.js';

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

/** What every node is asked. */
interface NodeQuestion<Answer, Kept> extends ProxyQuestion {
  readonly shape: Shape<Answer>;
  /** What is kept of an answer. */
  keep(answer: Answer, node: string): Kept | Promise<Kept>;
}

/**
 * Asks proxies the same, at most `parallel` at a time. Replies come in the order of the nodes' names. A node that
 * answers something else than a proxy would is silent.
 */
export async function askNodes<Answer, Kept>(
  proxies: readonly NodeProxy[],
  question: NodeQuestion<Answer, Kept>,
  parallel: number,
): Promise<readonly NodeReply<Kept>[]> {
  const replies: NodeReply<Kept>[] = [];
  const waiting = proxies.values();
  const worker = async (): Promise<void> => {
    for (const proxy of waiting) replies.push(await replyOf(proxy, question));
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

async function replyOf<Answer, Kept>(
  proxy: NodeProxy,
  question: NodeQuestion<Answer, Kept>,
): Promise<NodeReply<Kept>> {
  const { node } = proxy;
  try {
    const answer = parseAnswer(await proxy.ask(question), question.shape);
    return { node, answer: await question.keep(answer, node) };
  } catch (error) {
    if (error instanceof NoAnswerError)
      return { node, silence: error.silence, reason: cutText(error.message) };
    if (!(error instanceof AnswerError)) throw error;
    return { node, silence: 'bad-answer', reason: `its answer is none of a proxy: ${error.message}` };
  }
}

const order = new Intl.Collator('en', { numeric: true });

/** node-2 before node-10. */
function inOrder(a: string, b: string): number {
  return order.compare(a, b);
}
