import { AnswerError, parseAnswer } from '../parse-answer.js';
import type { Shape } from '../../../domain/shape.js';
import { cutText } from '../../../application/cut-text.js';
import { NoAnswerError, type NodeProxy, type ProxyQuery, type Silence } from '../ports/node-proxies.js';
import { grouped } from '../../../domain/model/maps.js';
import type { UnknownName } from '../status/service-row.js';

/** What the proxies of nodes said. Both lists are in the order of the nodes' names. */
interface NodeReplies<Answer> {
  readonly answers: readonly NodeAnswer<Answer>[];
  readonly silent: readonly SilentNode[];
}

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

/** What becomes of each node's answer. */
export interface KeptAnswers<Answer, Kept> {
  readonly shape: Shape<Answer>;
  /** What is kept of it while the others are asked: answers may be large, and nodes many. */
  keep(answer: Answer, node: string): Kept | Promise<Kept>;
}

type NodeQuery<Answer, Kept> = ProxyQuery & KeptAnswers<Answer, Kept>;

/** Asks proxies the same, at most `parallel` at a time. A node that answers something else than a proxy would is silent. */
export async function queryNodes<Answer, Kept>(
  proxies: readonly NodeProxy[],
  query: NodeQuery<Answer, Kept>,
  parallel: number,
): Promise<NodeReplies<Kept>> {
  const answers: NodeAnswer<Kept>[] = [];
  const silent: SilentNode[] = [];
  const waiting = proxies.values();
  const worker = async (): Promise<void> => {
    for (const proxy of waiting) {
      const reply = await replyOf(proxy, query);
      if ('answer' in reply) answers.push(reply);
      else silent.push(reply);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { answers: answers.sort(inOrder), silent: silent.sort(inOrder) };
}

async function replyOf<Answer, Kept>(
  proxy: NodeProxy,
  query: NodeQuery<Answer, Kept>,
): Promise<NodeAnswer<Kept> | SilentNode> {
  const { node } = proxy;
  try {
    const answer = parseAnswer(await proxy.query(query), query.shape);
    return { node, answer: await query.keep(answer, node) };
  } catch (error) {
    if (error instanceof NoAnswerError)
      return { node, silence: error.silence, reason: cutText(error.message) };
    if (!(error instanceof AnswerError)) throw error;
    return { node, silence: 'bad-answer', reason: `its answer is none of a proxy: ${error.message}` };
  }
}

const order = new Intl.Collator('en', { numeric: true });

/** node-2 before node-10. */
function inOrder(a: { readonly node: string }, b: { readonly node: string }): number {
  return order.compare(a.node, b.node);
}

/** The names that no node which answered knows. What one knows, exists. */
export function unknownEverywhere(answers: readonly (readonly UnknownName[])[]): readonly UnknownName[] {
  const byName = grouped(answers.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((same) => (same.length === answers.length ? same.slice(0, 1) : []));
}
