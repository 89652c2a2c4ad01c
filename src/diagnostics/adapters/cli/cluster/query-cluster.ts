import { ExitCode, exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import {
  queryNodes,
  type AboutNodes,
  type UnreachableNode,
} from '../../../application/cluster/query-nodes.js';
import { podAddress, podAddresses } from '../../../application/trace/named-ends.js';
import type { FoundProxies, NodeProxies, ProxyQuery } from '../../../application/ports/node-proxies.js';
import type { AboutUnknown } from '../../../application/status/service-row.js';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { hostPort } from '../../../../domain/net/address.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { printError } from '../../../../adapters/cli/print-error.js';
import { SystemClock } from '../../../../adapters/process/system-clock.js';
import { reportUnknown } from '../find-services.js';
import { formatted, print } from '../output.js';
import { QueryError } from '../running-proxy.js';
import {
  UnknownNodeError,
  type clusterCommand,
  type ClusterAccess,
  type ComparisonQuery,
} from './cluster-command.js';
import { untilDone } from '../commands/drain-status.js';
import { printClientVersion, type ClientVersion } from '../commands/version.js';
import { show, untilUserEnds, tableText, type Watched } from '../watch.js';
import { nodesQueries, type AnyQuery } from './nodes-queries.js';
import { unreachableLines } from './texts.js';
import { podsOfCluster, queryApiServer, userApiClient } from '../../kubernetes/user-cluster.js';
import { ComparisonPods } from '../../kubernetes/comparison-pods.js';
import { PodExec } from '../../kubernetes/pod-exec.js';
import { ProxyPods } from '../../kubernetes/proxy-pods.js';

/** How long one proxy usually may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/** Between two queries of all nodes in a watch. Milliseconds. */
const REST = 5_000;

/**
 * Queries the proxies of all nodes and prints the result. 0 without a problem, 1 with one, also if a node is not reachable; 3 if none is.
 * @param client of this program, for `version`
 * @param timeout milliseconds for each node; missing: the timeout of the command
 * @throws QueryError when no proxy can be found
 */
export async function queryCluster(
  invocation: Invocation<typeof clusterCommand>,
  client: ClientVersion,
  timeout?: number,
): Promise<number> {
  const { query, output } = invocation.request;
  if (query.isClientOnly) return printClientVersion(client, output);
  const { comparison } = query;
  if (!comparison) return runWith(invocation, client, () => openProxyPods(invocation), timeout);
  return untilUserEnds(({ signal }) =>
    runWith(invocation, client, () => openComparisonPods(invocation, comparison, signal)),
  );
}

async function runWith(
  invocation: Invocation<typeof clusterCommand>,
  client: ClientVersion,
  open: () => Promise<NodeProxies>,
  timeout?: number,
): Promise<number> {
  const { query, access, watch } = invocation.request;
  const words = await wordsOf(invocation);
  const pods = await queryApiServer(open);
  if (query.drain) await findProxies(pods, { ...access, nodes: query.drain.targets.nodes });
  const makeQuery = (): AnyQuery => nodesQueries[query.kind as keyof typeof nodesQueries](query, client);
  const shown = makeQuery();
  const limits = { words, timeout: access.timeout ?? timeout ?? shown.timeout ?? TIMEOUT };
  if (shown.single && access.nodes.length === 1 && !watch)
    return showNode(invocation.request, shown, limits, pods);
  let last: ClusterAnswer | undefined;
  const runQuery = async (): Promise<ClusterResult> => {
    const answer = await queryAll({ ...makeQuery(), ...limits }, pods, access);
    if (!last) reportNotKnown(answer.unknown);
    last = answer;
    return answer.result;
  };
  const lines = (result: ClusterResult, isWide: boolean): readonly string[] => [
    ...shown.lines(result, isWide),
    ...unreachableLines(result.unreachableNodes, isWide && query.kind === 'status'),
  ];
  const { waitMilliseconds } = query.drain ?? {};
  const isDone = (): boolean => exitCode(shown, last!) === ExitCode.ok;
  return show(invocation.request, () => untilDone(runQuery, isDone, waitMilliseconds), {
    lines,
    names: (result) => shown.names?.(result) ?? [],
    exitCode: () => exitCode(shown, last!),
    watched: (result) => watchedItems(shown, result),
    rest: () => REST,
  });
}

/** Prints what the command prints on this node. @throws QueryError if the node is not reachable */
async function showNode(
  { output, access }: Invocation<typeof clusterCommand>['request'],
  { shape, single }: AnyQuery,
  limits: ProxyQuery,
  pods: NodeProxies,
): Promise<ExitCode> {
  const { lines, names, hasProblem, value = (answer) => answer } = single!;
  const { proxies, unknown } = await findProxies(pods, access);
  reportNotKnown(unknown);
  const { answers, unreachable } = await queryNodes(
    proxies,
    { ...limits, shape, keep: (answer) => answer },
    access.parallel,
  );
  for (const { node, reason } of unreachable) throw new QueryError(`${node} is not reachable: ${reason}`);
  const { answer } = answers[0]!;
  const isData = output === 'json' || output === 'yaml';
  await print(formatted(output, isData ? value(answer) : answer, lines, names));
  const isUnknown = reportUnknown((answer as AboutUnknown).unknownNames);
  return exitCodeOf(isUnknown || hasProblem(answer));
}

function reportNotKnown(unknown: readonly string[]): void {
  for (const problem of unknown) printError(`not known: ${problem}`);
}

async function queryAll(
  query: AnyQuery & ProxyQuery,
  pods: NodeProxies,
  access: ClusterAccess,
): Promise<ClusterAnswer> {
  const { proxies, unknown } = await findProxies(pods, access);
  const { answers, unreachable } = await queryNodes(proxies, query, access.parallel);
  return {
    result: {
      ...query.result(answers, unknown.length + unreachable.length === 0),
      queriedNodes: proxies.length,
      unreachableNodes: unreachable,
    },
    answered: answers.length,
    unknown,
  };
}

/** The result, and the nodes that are not reachable. */
type ClusterResult = AboutUnknown & AboutNodes;

interface ClusterAnswer {
  readonly result: ClusterResult;
  readonly answered: number;
  /** Facts about the cluster that are not known, for people. */
  readonly unknown: readonly string[];
}

/** 3 if no node is reachable; 1 for a problem, which a node that is not reachable is, too. */
function exitCode(query: AnyQuery, { result, answered }: ClusterAnswer): ExitCode {
  if (answered === 0) return ExitCode.notReachable;
  return exitCodeOf(query.hasProblem(result) || result.unreachableNodes.length > 0);
}

/** Nodes get the addresses of pods that are named. @throws CannotTraceError if it is not clear which pods those are */
async function wordsOf(invocation: Invocation<typeof clusterCommand>): Promise<readonly string[]> {
  const { query, access } = invocation.request;
  const { words, pods, comparison, drain } = query;
  if (comparison) return [...words, '--plan', modeOf(invocation)];
  const find = podsOfCluster(invocation, access.api);
  if (drain) {
    const found = await Promise.all(
      drain.targets.pods.map(async (pod) => podAddresses(pod, await find(pod)).map(({ text }) => text)),
    );
    return ['drain-status', ...words, ...found.flat(), '-o', 'json'];
  }
  if (!pods) return words;
  const from = pods.from && podAddress(pods.from, await find(pods.from), pods.family);
  const to = pods.to && podAddress(pods.to, await find(pods.to), pods.family ?? from?.family);
  return [
    ...words,
    ...(from ? ['--from', from.text] : []),
    ...(to ? ['--to', `${hostPort(to.text, pods.to!.port)}/${pods.to!.protocol}`] : []),
  ];
}

/** @throws UsageError */
function modeOf({ configuration }: Invocation<typeof clusterCommand>): SideMode {
  const mode = SIDE_MODES.find((one) => one === configuration.mode);
  if (mode) return mode;
  throw new UsageError(`compare takes --proxy-mode ${SIDE_MODES.join(', ')}`, 'kubectl kubeproxy compare');
}

/**
 * The proxies that a command is about.
 * @throws QueryError if there is no proxy, UnknownNodeError if a node that is named does not exist
 */
export async function findProxies(pods: NodeProxies, access: ClusterAccess): Promise<FoundProxies> {
  const found = await queryApiServer(() => pods.list());
  const { proxyNamespace: namespace, selector, nodes } = access;
  if (found.proxies.length === 0)
    throw new QueryError(
      `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
    );
  if (nodes.length === 0) return found;
  const missing = nodes.filter((name) => found.proxies.every(({ node }) => node !== name));
  if (missing.length > 0) throw new UnknownNodeError(missing);
  return { ...found, proxies: found.proxies.filter(({ node }) => nodes.includes(node)) };
}

type Item = object;

/** For `-w`: what the result lists, and the nodes that are not reachable. */
function watchedItems({ listed, lines, names, essence }: AnyQuery, result: ClusterResult): Watched<Item> {
  const { field, keyOf } = listed ?? { field: '', keyOf: JSON.stringify };
  const all = (result as unknown as Readonly<Record<string, readonly Item[]>>)[field] ?? [];
  const unreachable = new Set<Item>(result.unreachableNodes);
  const of = (items: readonly Item[]) => ({ ...result, [field]: items });
  return {
    items: [...all, ...unreachable],
    key: (item) => ('cause' in item && 'node' in item ? String(item.node) : keyOf(item)),
    essence: (item) => (essence ? essence(item) : item),
    text(items, isWide) {
      const others = items.filter((item) => 'cause' in item && 'node' in item) as UnreachableNode[];
      const rows = items.filter((item) => !others.includes(item as UnreachableNode));
      const text = listed?.isTable
        ? tableText(lines(of(rows), isWide))
        : { head: [], rows: rows.map((row) => lines(of([row]), isWide)) };
      return { ...text, rows: [...text.rows, ...unreachableLines(others, true).map((line) => [line])] };
    },
    name: (item) => names?.(of([item])).join() ?? '',
  };
}

/** The proxies of the user's cluster. Throws as `userApiClient`. */
async function openProxyPods(invocation: Invocation<typeof clusterCommand>): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, api } = invocation.request.access;
  const clock = new SystemClock();
  const client = await userApiClient(invocation, clock, api);
  return new ProxyPods(client, new PodExec(client, clock), { namespace, selector });
}

/** Nodes that are compared, each by a pod made for it. Throws as `userApiClient`. @param signal ends the pods */
async function openComparisonPods(
  invocation: Invocation<typeof clusterCommand>,
  { nodes, nodeSelector, image }: ComparisonQuery,
  signal: AbortSignal,
): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, api } = invocation.request.access;
  const { mode } = invocation.configuration;
  const clock = new SystemClock();
  const client = await userApiClient(invocation, clock, api);
  return new ComparisonPods(client, clock, { namespace, selector, mode, nodes, nodeSelector, image }, signal);
}
