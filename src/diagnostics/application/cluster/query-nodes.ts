import { AnswerError, parseAnswer } from '../parse-answer.js';
import { fields, list, number, text, word, type Shape } from '../../../domain/shape.js';
import { cutText } from '../../../application/cut-text.js';
import {
  NoAnswerError,
  type NodeProxy,
  type ProxyQuery,
  type UnreachableCause,
} from '../ports/node-proxies.js';
import { grouped } from '../../../domain/model/maps.js';
import type { UnknownName } from '../status/service-row.js';

/** The answers of the proxies of nodes. Both lists are in the order of the nodes' names. */
interface NodeReplies<Answer> {
  readonly answers: readonly NodeAnswer<Answer>[];
  readonly unreachable: readonly UnreachableNode[];
}

export interface NodeAnswer<Answer> {
  readonly node: string;
  readonly answer: Answer;
}

/** A node whose proxy did not answer, and why. */
export type UnreachableNode = ReturnType<typeof unreachableNode>;
const unreachableNode = fields({ node: text, cause: word<UnreachableCause>(), reason: text });

/** Part of every answer about all nodes, or several. */
export type AboutNodes = ReturnType<typeof aboutNodes>;
export const aboutNodes = fields({ queriedNodes: number, unreachableNodes: list(unreachableNode) });

/** The handling of each node's answer. */
export interface KeptAnswers<Answer, Kept> {
  readonly shape: Shape<Answer>;
  /** The part of it that is kept while the others are queried: answers may be large, and nodes many. */
  keep(answer: Answer, node: string): Kept | Promise<Kept>;
}

type NodeQuery<Answer, Kept> = ProxyQuery & KeptAnswers<Answer, Kept>;

/** Sends proxies the same query, at most `parallel` at a time. A node whose answer is not that of a proxy is unreachable. */
export async function queryNodes<Answer, Kept>(
  proxies: readonly NodeProxy[],
  query: NodeQuery<Answer, Kept>,
  parallel: number,
): Promise<NodeReplies<Kept>> {
  const answers: NodeAnswer<Kept>[] = [];
  const unreachable: UnreachableNode[] = [];
  const waiting = proxies.values();
  const worker = async (): Promise<void> => {
    for (const proxy of waiting) {
      const reply = await replyOf(proxy, query);
      if ('answer' in reply) answers.push(reply);
      else unreachable.push(reply);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { answers: answers.sort(byNode), unreachable: unreachable.sort(byNode) };
}

async function replyOf<Answer, Kept>(
  proxy: NodeProxy,
  query: NodeQuery<Answer, Kept>,
): Promise<NodeAnswer<Kept> | UnreachableNode> {
  const { node } = proxy;
  try {
    const answer = parseAnswer(await proxy.query(query), query.shape);
    return { node, answer: await query.keep(answer, node) };
  } catch (error) {
    if (error instanceof NoAnswerError) return { node, cause: error.code, reason: cutText(error.message) };
    if (!(error instanceof AnswerError)) throw error;
    return { node, cause: 'bad-answer', reason: `its answer is not that of a proxy: ${error.message}` };
  }
}

const order = new Intl.Collator('en', { numeric: true });

/** node-2 before node-10. */
function byNode(a: { readonly node: string }, b: { readonly node: string }): number {
  return order.compare(a.node, b.node);
}

/** The names that no node which answered knows. What one knows, exists. */
export function unknownEverywhere(answers: readonly (readonly UnknownName[])[]): readonly UnknownName[] {
  const byName = grouped(answers.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((same) => (same.length === answers.length ? same.slice(0, 1) : []));
}

/** Nodes whose answers agree. */
export interface NodeGroup<Answer> {
  readonly nodes: readonly string[];
  /** That of the first of these nodes. */
  readonly answer: Answer;
}

/** The shape of groups of nodes. */
export function nodeGroups<Answer>(answer: Shape<Answer>) {
  return list(fields({ nodes: list(text), answer }));
}

/** Folds nodes that agree, the largest group first. @param keyOf equal for answers that agree */
export function foldNodes<Answer>(
  answers: readonly NodeAnswer<Answer>[],
  keyOf: (answer: Answer) => string,
): readonly NodeGroup<Answer>[] {
  return [...grouped(answers, ({ answer }) => keyOf(answer)).values()]
    .map((same) => ({ nodes: same.map(({ node }) => node), answer: same[0]!.answer }))
    .sort((one, other) => other.nodes.length - one.nodes.length);
}
