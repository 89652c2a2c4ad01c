import { askNodes, type SilentNode } from '../../../application/cluster/ask-nodes.js';
import { podAddress } from '../../../application/trace/named-pod.js';
import type { ClusterStatus } from '../../../application/cluster/cluster-status.js';
import type { FoundProxies, NodeProxies } from '../../../application/ports/node-proxies.js';
import type { UnknownName } from '../../../application/status/service-row.js';
import type { Asked } from '../command-line/subcommands.js';
import { CANNOT_ASK, CannotAskError } from '../asking/cannot-ask-error.js';
import { complainOf } from '../asking/unknown-service.js';
import { formatted } from '../output/formatted.js';
import { complain, print } from '../output/print.js';
import { noAnswerLines } from '../texts/cluster/grouped-nodes.js';
import type { ClusterAccess } from '../arguments/cluster.js';
import type { OutputFormat } from '../command-line/subcommand.js';
import { untilUserEnds } from '../watching/until-user-ends.js';
import { watch } from '../watching/watch.js';
import type { NodesQuestion } from './nodes-question.js';
import { questions } from './questions.js';
import { watchedNodes } from './watched-nodes.js';
import { openProxyPods } from './open-proxy-pods.js';
import { podsOfCluster } from './pods-of-cluster.js';
import { askApiServer } from './user-api-client.js';

/** How long one proxy usually may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/** From the answers of all nodes to the next question, when they are watched: each asks all of them. Milliseconds. */
const REST = 5_000;

/** What all nodes have said, and those that have not. */
interface Told {
  readonly put: NodesQuestion<unknown, unknown, object>;
  readonly result: object & { readonly silent: readonly SilentNode[] };
  readonly answered: number;
  /** What cannot be said of the nodes, for people. */
  readonly unknown: readonly string[];
}

/**
 * Asks the proxies of all nodes and prints what they say. The exit code is the question's, or 3 when no node answers.
 * @param timeout milliseconds that every node may take, whatever it is asked; missing: as the question needs
 * @throws CannotAskError when no proxy can be found
 */
export async function askCluster(asked: Asked<'cluster'>, timeout?: number): Promise<number> {
  const { question, output, watch: isWatched } = asked.request;
  // What it needs is made before anybody is asked.
  const first = await questions[question.kind](question);
  const words = await wordsOf(asked);
  const pods = await askApiServer(() => openProxyPods(asked));
  const told = (put = first): Promise<Told> => tell(put, words, pods, asked, timeout);
  if (isWatched) return watchStatus(async () => told(await questions.status(question)), output);
  const all = await told();
  const { put, result } = all;
  complainOfNodes(all);
  const lines = (shown: typeof result, isWide: boolean): readonly string[] => [
    ...put.lines(shown, isWide),
    ...noAnswerLines(shown.silent, isWide && question.kind === 'status'),
  ];
  await print(formatted(output, result, lines, put.names));
  if ('unknown' in result) complainOf(result.unknown as readonly UnknownName[]);
  return exitCode(all);
}

async function tell(
  put: Told['put'],
  words: readonly string[],
  pods: NodeProxies,
  { request: { access } }: Asked<'cluster'>,
  timeout?: number,
): Promise<Told> {
  const { proxies, unknown } = await find(pods, access);
  const limited = { ...put, words, timeout: timeout ?? put.timeout ?? TIMEOUT };
  const { answers, silent } = await askNodes(proxies, limited, access.parallel);
  return {
    put,
    result: { ...(await put.result(answers, silent)), silent },
    answered: answers.length,
    unknown,
  };
}

function complainOfNodes({ unknown }: Told): void {
  for (const problem of unknown) complain(`not known: ${problem}`);
}

function exitCode({ put, result, answered }: Told): number {
  if (answered === 0) return CANNOT_ASK;
  return result.silent.length > 0 ? (put.incomplete ?? 1) : put.exitCode(result);
}

/** The exit code is that of the last answers. */
async function watchStatus(ask: () => Promise<Told>, output: OutputFormat): Promise<number> {
  let last: Told | undefined;
  const askAgain = async () => {
    const told = await ask();
    if (!last) complainOfNodes(told);
    last = told;
    return watchedNodes(told.result as ClusterStatus & Told['result']);
  };
  await untilUserEnds(({ signal }) => watch(askAgain, output, signal, () => REST));
  return last ? exitCode(last) : 0;
}

/**
 * Nodes know no pods: they get the address of the one that is named.
 * @throws CannotTraceError if it is not clear which that is
 */
async function wordsOf(asked: Asked<'cluster'>): Promise<readonly string[]> {
  const { question, access } = asked.request;
  const { words, sender } = question;
  if (!sender) return words;
  const known = await podsOfCluster(asked, access.context)(sender.from);
  return [...words, '--from', podAddress(sender.from, known, sender.family).text];
}

async function find(pods: NodeProxies, access: ClusterAccess): Promise<FoundProxies> {
  const found = await askApiServer(() => pods.list());
  if (found.proxies.length > 0) return found;
  const { proxyNamespace: namespace, selector } = access;
  throw new CannotAskError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
  );
}
