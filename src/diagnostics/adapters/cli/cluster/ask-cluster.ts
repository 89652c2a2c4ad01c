import type { Asked } from '../options.js';
import { askNodes, type SilentNode } from '../../../application/cluster/ask-nodes.js';
import { podAddress } from '../../../application/trace/named-ends.js';
import type { ClusterStatus, NodeRow } from '../../../application/cluster/cluster-status.js';
import type { FoundProxies, NodeProxies } from '../../../application/ports/node-proxies.js';
import type { AboutUnknown, ServiceList } from '../../../application/status/service-row.js';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { CannotAskError, CANNOT_ASK } from '../running-proxy.js';
import { reportUnknown } from '../find-services.js';
import { formatted, print, objectName } from '../output.js';
import { printError } from '../../../../adapters/cli/print-error.js';
import { noAnswerLines, clusterStatusLines } from './texts.js';
import type {
  clusterCommand,
  ClusterAccess,
  ClusterQuestion,
  ComparisonQuestion,
} from './cluster-command.js';
import { type OutputFormat, nameText, type ServiceName } from '../options.js';
import { show, untilUserEnds, tableText, type Watched } from '../watch.js';
import { questions, type NodesQuestion } from './questions.js';
import { podsOfCluster, askApiServer, userApiClient } from '../../kubernetes/user-cluster.js';
import { ComparisonPods } from '../../kubernetes/comparison-pods.js';
import { PodExec } from '../../kubernetes/pod-exec.js';
import { ProxyPods } from '../../kubernetes/proxy-pods.js';
import { SystemClock } from '../../../../adapters/process/system-clock.js';

/** How long one proxy usually may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/** Between two queries of all nodes in a watch. Milliseconds. */
const REST = 5_000;

/**
 * Queries the proxies of all nodes and prints the result. The exit code is that of the command, or 3 when no node answers.
 * @param timeout milliseconds for each node; missing: the timeout of the command
 * @throws CannotAskError when no proxy can be found
 */
export async function askCluster(asked: Asked<typeof clusterCommand>, timeout?: number): Promise<number> {
  const { comparison } = asked.request.question;
  if (!comparison) return askWith(asked, () => openProxyPods(asked), timeout);
  return untilUserEnds(({ signal }) => askWith(asked, () => openComparisonPods(asked, comparison, signal)));
}

async function askWith(
  asked: Asked<typeof clusterCommand>,
  open: () => Promise<NodeProxies>,
  timeout?: number,
): Promise<number> {
  const { question, output } = asked.request;
  // Its folder is made before a node is queried.
  const put = await questions[question.kind](question);
  const words = await wordsOf(asked);
  const pods = await askApiServer(open);
  const ask: AskNodes = (put, words) => askAll(put, words, pods, asked, timeout);
  if (question.kind === 'explain') return explain(question, ask, output);
  let last: ClusterAnswer | undefined;
  const query = async () => {
    const all = await ask(put, words);
    if (!last) reportUnknownNodes(all);
    last = all;
    return all.result as ClusterStatus & ClusterAnswer['result'];
  };
  return show(asked.request, query, {
    lines: linesOf(put, question.kind === 'status'),
    names: (result) => put.names?.(result) ?? [],
    exitCode: () => exitCode(last!),
    watched: watchedNodes,
    rest: () => REST,
  });
}

/** What is known of each Service, with an empty line between them. */
async function explain(question: ClusterQuestion, ask: AskNodes, output: OutputFormat): Promise<number> {
  const { all, exitCode } = await explainServices(question, ask);
  const [only] = all;
  if (!only) return exitCode;
  reportUnknownNodes(only);
  const results = all.map(({ result }) => result);
  const text =
    all.length === 1 && question.services.length === 1
      ? formatted(output, only.result, linesOf(only.put))
      : formatted(output, results, (shown, isWide) =>
          shown.flatMap((result, index) => [
            ...(index > 0 ? [''] : []),
            ...linesOf(only.put)(result, isWide),
          ]),
        );
  await print(text);
  return exitCode;
}

/** @param isInFull whether the wide format has a line for each node that did not answer */
function linesOf(put: ClusterAnswer['put'], isInFull = false) {
  return (shown: ClusterAnswer['result'], isWide: boolean): readonly string[] => [
    ...put.lines(shown, isWide),
    ...noAnswerLines(shown.silent, isWide && isInFull),
  ];
}

async function askAll(
  put: ClusterAnswer['put'],
  words: readonly string[],
  pods: NodeProxies,
  { request: { access } }: Asked<typeof clusterCommand>,
  timeout?: number,
): Promise<ClusterAnswer> {
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

function reportUnknownNodes({ unknown }: ClusterAnswer): void {
  for (const problem of unknown) printError(`not known: ${problem}`);
}

/**
 * Nodes know no pods: they get the address of the one that is named.
 * @throws CannotTraceError if it is not clear which that is
 */
async function wordsOf(asked: Asked<typeof clusterCommand>): Promise<readonly string[]> {
  const { question, access } = asked.request;
  const { words, sender, comparison } = question;
  if (comparison) return [...words, '--plan', modeOf(asked)];
  if (!sender) return words;
  const known = await podsOfCluster(asked, access.context)(sender.from);
  return [...words, '--from', podAddress(sender.from, known, sender.family).text];
}

/** @throws UsageError */
function modeOf({ configuration }: Asked<typeof clusterCommand>): SideMode {
  const mode = SIDE_MODES.find((one) => one === configuration.mode);
  if (mode) return mode;
  throw new UsageError(`compare takes --proxy-mode ${SIDE_MODES.join(', ')}`, 'kubectl kubeproxy compare');
}

async function find(pods: NodeProxies, access: ClusterAccess): Promise<FoundProxies> {
  const found = await askApiServer(() => pods.list());
  if (found.proxies.length > 0) return found;
  const { proxyNamespace: namespace, selector } = access;
  throw new CannotAskError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
  );
}

/** The answers of all nodes, and the nodes that did not answer. */
interface ClusterAnswer {
  readonly put: NodesQuestion<unknown, unknown, object>;
  readonly result: AboutUnknown & { readonly silent: readonly SilentNode[] };
  readonly answered: number;
  /** What is not known about the nodes, for people. */
  readonly unknown: readonly string[];
}

/** Asks all nodes with these words of the command line. */
type AskNodes = (put: ClusterAnswer['put'], words: readonly string[]) => Promise<ClusterAnswer>;

/** That of the question, or 3 when no node answers. */
export function exitCode({ put, result, answered }: ClusterAnswer): number {
  if (answered === 0) return CANNOT_ASK;
  return result.silent.length > 0 ? (put.incomplete ?? 1) : put.exitCode(result);
}

/**
 * Asks all nodes about one Service after the other, since each is compared by itself; at first, if a name has no namespace, which
 * Services have it. Says which names no node knows.
 * @returns what is known of each, and the exit code of all
 */
async function explainServices(
  question: ClusterQuestion,
  ask: AskNodes,
): Promise<{ readonly all: readonly ClusterAnswer[]; readonly exitCode: number }> {
  const { found, code } = await inNamespaces(question, ask);
  const all: ClusterAnswer[] = [];
  for (const service of found) {
    const put = await questions.explain({ ...question, services: [service] });
    all.push(await ask(put, ['explain', nameText(service), '-o', 'json']));
  }
  return { all, exitCode: Math.max(code, ...all.map(exitCode)) };
}

/** The names, each in the namespaces in which a node knows such a Service. */
async function inNamespaces(
  question: ClusterQuestion,
  ask: AskNodes,
): Promise<{ readonly found: readonly ServiceName[]; readonly code: number }> {
  const { services } = question;
  const loose = services.flatMap(({ service }) => (service.includes('/') ? [] : service));
  if (loose.length === 0) return { found: services, code: 0 };
  // Where no node answers, each query reports it.
  const told = await ask(await questions.services(question), ['services', ...loose, '-o', 'json']);
  if (told.answered === 0) return { found: services, code: 0 };
  const { services: rows, unknown } = told.result as ClusterAnswer['result'] & ServiceList;
  const found = services.flatMap((one) =>
    one.service.includes('/')
      ? one
      : rows
          .filter(({ name }) => name === one.service)
          .map(({ namespace, name }) => ({ ...one, service: `${namespace}/${name}` })),
  );
  return { found, code: reportUnknown(unknown) ? 1 : 0 };
}

type WatchedNode = NodeRow | SilentNode;

/** All nodes: those that answered, and those that did not. */
function watchedNodes({
  nodes,
  silent,
}: ClusterStatus & { readonly silent: readonly SilentNode[] }): Watched<WatchedNode> {
  return {
    items: [...nodes, ...silent],
    key: ({ node }) => node,
    // How long a change waits is different at any moment.
    essence: (node) => ('state' in node ? { ...node, lag: 0 } : node),
    gone: ({ node }) => ({ node, silence: 'absent', reason: 'it is no longer among the nodes' }),
    text(all, isWide) {
      const rows = all.flatMap((node) => ('state' in node ? node : []));
      const others = all.flatMap((node) => ('state' in node ? [] : node));
      const { head, rows: lines } = tableText(clusterStatusLines({ nodes: rows }, isWide));
      return { head, rows: [...lines, ...noAnswerLines(others, true).map((line) => [line])] };
    },
    name: ({ node }) => objectName('node', node),
  };
}

/** The proxies of the user's cluster. Throws as `userApiClient`. */
async function openProxyPods(asked: Asked<typeof clusterCommand>): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = asked.request.access;
  const clock = new SystemClock();
  const client = await userApiClient(asked, clock, context);
  return new ProxyPods(client, new PodExec(client, clock), { namespace, selector });
}

/** Nodes that are compared, each by a pod made for it. Throws as `userApiClient`. @param signal ends the pods */
async function openComparisonPods(
  asked: Asked<typeof clusterCommand>,
  { nodes, nodeSelector, image }: ComparisonQuestion,
  signal: AbortSignal,
): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = asked.request.access;
  const { mode } = asked.configuration;
  const clock = new SystemClock();
  const client = await userApiClient(asked, clock, context);
  return new ComparisonPods(client, clock, { namespace, selector, mode, nodes, nodeSelector, image }, signal);
}
