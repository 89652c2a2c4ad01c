import type { Invocation } from '../options.js';
import { queryNodes, type SilentNode } from '../../../application/cluster/query-nodes.js';
import { podAddress } from '../../../application/trace/named-ends.js';
import type { ClusterStatus, NodeRow } from '../../../application/cluster/cluster-status.js';
import type { FoundProxies, NodeProxies } from '../../../application/ports/node-proxies.js';
import type { AboutUnknown, ServiceList } from '../../../application/status/service-row.js';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { QueryError, QUERY_FAILED } from '../running-proxy.js';
import { reportUnknown } from '../find-services.js';
import { formatted, print, objectName } from '../output.js';
import { printError } from '../../../../adapters/cli/print-error.js';
import { noAnswerLines, clusterStatusLines } from './texts.js';
import type { clusterCommand, ClusterAccess, ClusterQuery, ComparisonQuery } from './cluster-command.js';
import { type OutputFormat, nameText, type ServiceName } from '../options.js';
import { show, untilUserEnds, tableText, type Watched } from '../watch.js';
import { nodesQueries, type NodesQuery } from './nodes-queries.js';
import { podsOfCluster, queryApiServer, userApiClient } from '../../kubernetes/user-cluster.js';
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
 * @throws QueryError when no proxy can be found
 */
export async function queryCluster(
  invocation: Invocation<typeof clusterCommand>,
  timeout?: number,
): Promise<number> {
  const { comparison } = invocation.request.query;
  if (!comparison) return runWith(invocation, () => openProxyPods(invocation), timeout);
  return untilUserEnds(({ signal }) =>
    runWith(invocation, () => openComparisonPods(invocation, comparison, signal)),
  );
}

async function runWith(
  invocation: Invocation<typeof clusterCommand>,
  open: () => Promise<NodeProxies>,
  timeout?: number,
): Promise<number> {
  const { query, output } = invocation.request;
  // Its folder is made before a node is queried.
  const put = await nodesQueries[query.kind as keyof typeof nodesQueries](query);
  const words = await wordsOf(invocation);
  const pods = await queryApiServer(open);
  const ask: QueryNodes = (put, words) => queryAll(put, words, pods, invocation, timeout);
  if (query.kind === 'explain') return explain(query, ask, output);
  let last: ClusterAnswer | undefined;
  const runQuery = async () => {
    const all = await ask(put, words);
    if (!last) reportUnknownNodes(all);
    last = all;
    return all.result as ClusterStatus & ClusterAnswer['result'];
  };
  return show(invocation.request, runQuery, {
    lines: linesOf(put, query.kind === 'status'),
    names: (result) => put.names?.(result) ?? [],
    exitCode: () => exitCode(last!),
    watched: watchedNodes,
    rest: () => REST,
  });
}

/** What is known of each Service, with an empty line between them. */
async function explain(query: ClusterQuery, ask: QueryNodes, output: OutputFormat): Promise<number> {
  const { all, exitCode } = await explainServices(query, ask);
  const [only] = all;
  if (!only) return exitCode;
  reportUnknownNodes(only);
  const results = all.map(({ result }) => result);
  const text =
    all.length === 1 && query.services.length === 1
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

async function queryAll(
  put: ClusterAnswer['put'],
  words: readonly string[],
  pods: NodeProxies,
  { request: { access } }: Invocation<typeof clusterCommand>,
  timeout?: number,
): Promise<ClusterAnswer> {
  const { proxies, unknown } = await find(pods, access);
  const limited = { ...put, words, timeout: timeout ?? put.timeout ?? TIMEOUT };
  const { answers, silent } = await queryNodes(proxies, limited, access.parallel);
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
async function wordsOf(invocation: Invocation<typeof clusterCommand>): Promise<readonly string[]> {
  const { query, access } = invocation.request;
  const { words, sender, comparison } = query;
  if (comparison) return [...words, '--plan', modeOf(invocation)];
  if (!sender) return words;
  const known = await podsOfCluster(invocation, access.context)(sender.from);
  return [...words, '--from', podAddress(sender.from, known, sender.family).text];
}

/** @throws UsageError */
function modeOf({ configuration }: Invocation<typeof clusterCommand>): SideMode {
  const mode = SIDE_MODES.find((one) => one === configuration.mode);
  if (mode) return mode;
  throw new UsageError(`compare takes --proxy-mode ${SIDE_MODES.join(', ')}`, 'kubectl kubeproxy compare');
}

async function find(pods: NodeProxies, access: ClusterAccess): Promise<FoundProxies> {
  const found = await queryApiServer(() => pods.list());
  if (found.proxies.length > 0) return found;
  const { proxyNamespace: namespace, selector } = access;
  throw new QueryError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
  );
}

/** The answers of all nodes, and the nodes that did not answer. */
interface ClusterAnswer {
  readonly put: NodesQuery<unknown, unknown, object>;
  readonly result: AboutUnknown & { readonly silent: readonly SilentNode[] };
  readonly answered: number;
  /** What is not known about the nodes, for people. */
  readonly unknown: readonly string[];
}

/** Asks all nodes with these words of the command line. */
type QueryNodes = (put: ClusterAnswer['put'], words: readonly string[]) => Promise<ClusterAnswer>;

/** That of the query, or 3 when no node answers. */
export function exitCode({ put, result, answered }: ClusterAnswer): number {
  if (answered === 0) return QUERY_FAILED;
  return result.silent.length > 0 ? (put.incomplete ?? 1) : put.exitCode(result);
}

/**
 * Asks all nodes about one Service after the other, since each is compared by itself; at first, if a name has no namespace, which
 * Services have it. Says which names no node knows.
 * @returns what is known of each, and the exit code of all
 */
async function explainServices(
  query: ClusterQuery,
  ask: QueryNodes,
): Promise<{ readonly all: readonly ClusterAnswer[]; readonly exitCode: number }> {
  const { found, code } = await inNamespaces(query, ask);
  const all: ClusterAnswer[] = [];
  for (const service of found) {
    const put = await nodesQueries.explain({ ...query, services: [service] });
    all.push(await ask(put, ['explain', nameText(service), '-o', 'json']));
  }
  return { all, exitCode: Math.max(code, ...all.map(exitCode)) };
}

/** The names, each in the namespaces in which a node knows such a Service. */
async function inNamespaces(
  query: ClusterQuery,
  ask: QueryNodes,
): Promise<{ readonly found: readonly ServiceName[]; readonly code: number }> {
  const { services } = query;
  const loose = services.flatMap(({ service }) => (service.includes('/') ? [] : service));
  if (loose.length === 0) return { found: services, code: 0 };
  // Where no node answers, each query reports it.
  const told = await ask(await nodesQueries.services(query), ['services', ...loose, '-o', 'json']);
  if (told.answered === 0) return { found: services, code: 0 };
  const { services: rows, unknownNames } = told.result as ClusterAnswer['result'] & ServiceList;
  const found = services.flatMap((one) =>
    one.service.includes('/')
      ? one
      : rows
          .filter(({ name }) => name === one.service)
          .map(({ namespace, name }) => ({ ...one, service: `${namespace}/${name}` })),
  );
  return { found, code: reportUnknown(unknownNames) ? 1 : 0 };
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
    essence: (node) => ('state' in node ? { ...node, lagSeconds: 0 } : node),
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
async function openProxyPods(invocation: Invocation<typeof clusterCommand>): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = invocation.request.access;
  const clock = new SystemClock();
  const client = await userApiClient(invocation, clock, context);
  return new ProxyPods(client, new PodExec(client, clock), { namespace, selector });
}

/** Nodes that are compared, each by a pod made for it. Throws as `userApiClient`. @param signal ends the pods */
async function openComparisonPods(
  invocation: Invocation<typeof clusterCommand>,
  { nodes, nodeSelector, image }: ComparisonQuery,
  signal: AbortSignal,
): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = invocation.request.access;
  const { mode } = invocation.configuration;
  const clock = new SystemClock();
  const client = await userApiClient(invocation, clock, context);
  return new ComparisonPods(client, clock, { namespace, selector, mode, nodes, nodeSelector, image }, signal);
}
