/** The command line of the kubectl plugin: the commands for all nodes, and what each node is queried with. */

import { Option } from 'commander';
import { NamedError } from '../../../../domain/model/named-error.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import {
  listOutputOptions,
  positiveNumber,
  subcommand,
  type OutputOptions,
  type WatchOptions,
  expectOption,
  refuseUnknownDifferences,
  nodeName,
  outputOptions,
  watchOption,
} from '../options.js';
import type { NamedPod, NamedPodPort } from '../../../application/trace/named-ends.js';
import { parseDuration } from '../../../../application/words.js';
import type { ConnectionOverrides } from '../../../../adapters/kubernetes/connection/connection.js';
import { versionCommand } from '../commands/version.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { SIDE_MODES } from '../../../domain/compare/side.js';
import { diffCommand } from '../commands/diff.js';
import { drainStatusCommand } from '../commands/drain-status.js';
import type { DrainTargets } from '../../../application/drain/report-drain.js';
import { dumpCommand } from '../commands/dump.js';
import { explainCommand } from '../commands/explain.js';
import { historyCommand } from '../commands/history.js';
import { servicesCommand } from '../commands/services.js';
import { statusCommand } from '../commands/status.js';
import type { CommandForm } from '../../../../adapters/cli/subcommand.js';
import { topCommand } from '../commands/top.js';
import { traceCommand } from '../commands/trace.js';

/** How the proxies of a cluster are found and queried. */
export interface ClusterAccess {
  /** The namespace of their pods. */
  readonly proxyNamespace: string;
  /** The labels of their pods, as a selector. */
  readonly selector: string;
  /** How many are queried at a time. */
  readonly parallel: number;
  /** Names of nodes; none: all. */
  readonly nodes: readonly string[];
  /** Milliseconds that a node may take; missing: what is usual for the query. */
  readonly timeout?: number | undefined;
  readonly api: ApiAccess;
}

/** How the user reaches the API server. */
export interface ApiAccess {
  /** Of the kubeconfig; undefined: the current one. */
  readonly context?: string | undefined;
  /** URL of the API server, instead of the kubeconfig's. */
  readonly server?: string | undefined;
  readonly overrides: ConnectionOverrides;
}

/** The commands for all nodes: those of one node, without the options that make sense for one node only. */
const QUERIES = {
  status: {
    ...statusCommand,
    description: 'Show the health of the proxy of each node, problems first.',
    summary: 'Show the health of each proxy.',
  },
  services: {
    ...servicesCommand,
    description: 'List Services with their state, the number of nodes with this state, and the reason.',
  },
  explain: {
    ...explainCommand,
    description:
      'Explain how the proxies handle Services, addresses and ports. Nodes that agree are shown once.',
  },
  trace: {
    ...traceCommand,
    description:
      'Follow the first packet of a connection through the rules of each node. Nodes that agree are shown once.',
    options: without(traceCommand, '--queries'),
  },
  diff: {
    ...diffCommand,
    description:
      "Compare each kernel's rules with the desired rules of the node's proxy: - unexpected, + missing.",
    options: without(diffCommand, '--plan'),
  },
  history: {
    ...historyCommand,
    description: 'Show the last changes of all nodes, or those of these Services, the oldest first.',
  },
  top: {
    ...topCommand,
    description: 'Show the connections of Services within one interval, added up over all nodes.',
    summary: 'Show the connections of Services.',
  },
  'drain-status': {
    ...drainStatusCommand,
    description:
      'Show the open connections through all nodes to endpoints of pods or nodes, or to all endpoints that terminate, and whether these may stop.',
    summary: 'Show whether endpoints may stop.',
  },
  dump: {
    ...dumpCommand,
    summary: 'Collect a support bundle of all nodes.',
    description:
      'Collect a support bundle of all nodes and of the objects of the proxies into one archive, without secrets. FILE is a new .tar.gz archive; - is standard output.',
  },
  compare: subcommand({
    name: 'compare',
    summary: 'Compare each kernel with the planned rules.',
    description:
      'Compare the kernel of each node with the planned rules of this program in a mode, before a roll-out. A temporary pod on each node runs the comparison.',
    usage: '--proxy-mode MODE [NODE...] [flags]',
    options: [
      new Option('--proxy-mode <mode>', `The mode to compare with: ${SIDE_MODES.join(', ')}.`),
      new Option('--node-selector <labels>', 'Only nodes with these labels.'),
      expectOption('Known differences to accept, by name; docs/install/comparing.md lists them. Repeatable.'),
      new Option('--image <image>', 'The image of this program, where no DaemonSet runs it yet.'),
    ],
    request: comparisonOf,
  }),
  version: {
    ...versionCommand,
    description:
      'Show the version of this program, and those of the proxies. Nodes that agree are shown once.',
    summary: 'Show the versions of program and proxies.',
  },
} as const satisfies Readonly<Record<string, CommandForm>>;

export type QueryKind = keyof typeof QUERIES;

/** Options of the command of all nodes itself. */
const HOW_TO_PRINT = outputOptions.map(({ long }) => long!);

/** How the queries read on the command line; the form of the answer is an option of all. */
const QUERY_FORMS = Object.values<CommandForm>(QUERIES).map((one) => ({
  ...one,
  options: without(one, ...HOW_TO_PRINT),
}));

/** The queries that are answered with a list of objects. */
const LISTS: readonly QueryKind[] = ['status', 'services', 'history'];

/** The kinds of queries. */
export const CLUSTER_QUERIES = Object.keys(QUERIES) as readonly QueryKind[];

/** kubectl's flags for the connection to the API server. */
const API_OPTIONS: readonly Option[] = [
  // Only listed here: it is a flag of the program, which reads it.
  new Option('--kubeconfig <file>', 'The kubeconfig to use, instead of KUBECONFIG or ~/.kube/config.'),
  new Option('--context <name>', 'The context of the kubeconfig to use.'),
  new Option('--cluster <name>', 'The cluster of the kubeconfig to use.'),
  new Option('--user <name>', 'The user of the kubeconfig to use.'),
  new Option('-s, --server <url>', "URL of the API server, instead of the kubeconfig's."),
  new Option('--token <token>', 'Bearer token for the API server.'),
  new Option('--as <user>', 'The user to impersonate.'),
  new Option('--as-group <group>', 'A group to impersonate, with --as. Repeatable.').argParser(
    (group: string, before: readonly string[] = []) => [...before, group],
  ),
  new Option('--certificate-authority <file>', 'Certificate authority of the API server.'),
  new Option('--client-certificate <file>', 'Client certificate.'),
  new Option('--client-key <file>', 'Key of the client certificate.'),
  new Option('--tls-server-name <name>', 'Name that the certificate of the API server must have.'),
  new Option('--insecure-skip-tls-verify', 'Do not verify the certificate of the API server.'),
  new Option('--request-timeout <duration>', 'How long one node may take, such as 30s.'),
];

/** The plugin for kubectl: queries the proxies of all nodes. */
export const clusterCommand = subcommand({
  name: 'cluster',
  description:
    'Query the proxies of all nodes, through the API server and with your own kubeconfig and rights.',
  usage: 'COMMAND [flags]',
  commands: QUERY_FORMS,
  namedFlags: { title: 'Flags of kubectl that it takes', options: API_OPTIONS },
  options: [
    new Option('--proxy-namespace <namespace>', 'Namespace of the proxies.').default('kube-system'),
    new Option('-l, --selector <labels>', 'Labels of their pods.').default(
      'k8s-app in (kube-proxy, kube-proxy-ts, kube-proxy-ts-iptables, kube-proxy-ts-ipvs, kube-proxy-ts-nftables)',
      'those of kube-proxy and kube-proxy-ts',
    ),
    new Option('--node <name>', 'Only this node. Repeatable.').argParser(
      (name: string, before: readonly string[] = []) => [...before, ...name.split(',').map(nodeName)],
    ),
    new Option('--parallel <number>', 'Nodes that are queried at a time.')
      .default(20)
      .argParser(positiveNumber),
    ...listOutputOptions,
  ],
  request(operands, options: ClusterOptions & OutputOptions & WatchOptions & QueryOptions) {
    const [kind = ''] = operands;
    const { output, watch } = options;
    if (output === 'name' && kind !== '' && !LISTS.includes(kind as QueryKind))
      throw new UsageError(`-o name is for ${LISTS.join(', ')}, not for ${kind}`);
    if (!CLUSTER_QUERIES.includes(kind as never))
      throw new UsageError(`a command is missing: ${CLUSTER_QUERIES.join(', ')}`);
    return { query: queryOf(operands, options), access: accessOf(options), output, watch };
  },
});

interface ClusterOptions
  extends Pick<ClusterAccess, 'proxyNamespace' | 'selector' | 'parallel'>, ConnectionOverrides {
  readonly node?: readonly string[];
  readonly context?: string;
  readonly server?: string;
  readonly requestTimeout?: string;
}

function accessOf(options: ClusterOptions): ClusterAccess {
  const { proxyNamespace, selector, parallel, node: nodes = [], context, server, requestTimeout } = options;
  const { cluster, user, token, as, asGroup, certificateAuthority, clientCertificate, clientKey } = options;
  const { insecureSkipTlsVerify, tlsServerName } = options;
  return {
    ...{ proxyNamespace, selector, parallel, nodes },
    timeout: requestTimeout === undefined ? undefined : timeoutOf(requestTimeout),
    api: {
      ...{ context, server },
      overrides: {
        ...{ cluster, user, token, as, asGroup, certificateAuthority, clientCertificate, clientKey },
        ...{ insecureSkipTlsVerify, tlsServerName },
      },
    },
  };
}

/** @returns undefined for 0, which sets no limit of its own. @throws UsageError */
function timeoutOf(text: string): number | undefined {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds < 0)
    throw new UsageError(`--request-timeout takes a duration such as 30s, got ${JSON.stringify(text)}`);
  return milliseconds === 0 ? undefined : milliseconds;
}

/** A query to the proxies of all nodes. */
export interface ClusterQuery {
  readonly kind: QueryKind;
  /** The subcommand for the proxy of each node, and its arguments. */
  readonly words: readonly string[];
  /** Pods at the ends of packets to be traced, by name. */
  readonly pods?: PodEnds | undefined;
  /** The archive for a support bundle; missing: the usual name. */
  readonly file?: string | undefined;
  /** Of `version`: no node is queried. */
  readonly isClientOnly?: boolean;
  readonly comparison?: ComparisonQuery;
  readonly drain?: DrainQuery;
}

/** Whose connections are counted. */
export interface DrainQuery {
  readonly targets: DrainTargets;
  /** How long to wait until none is left; undefined: not at all. */
  readonly waitMilliseconds: number | undefined;
}

/** The ends of a traced packet that are named pods. */
export interface PodEnds {
  readonly from?: NamedPod | undefined;
  readonly to?: NamedPodPort | undefined;
  /** Of the packet, if its other end is an address. */
  readonly family?: IpFamily | undefined;
}

/** Which nodes to compare, and how. */
export interface ComparisonQuery {
  /** By name; none: all. */
  readonly nodes: readonly string[];
  readonly nodeSelector?: string | undefined;
  /** Names of known differences. */
  readonly expected: readonly string[];
  readonly image?: string | undefined;
  /** Milliseconds for one node. */
  readonly timeout: number;
}

/** The values of the options of a query, by name in camel case. */
type QueryOptions = Readonly<Record<string, unknown>>;

/** The query in these arguments. @throws UsageError */
function queryOf([name = '', ...rest]: readonly string[], options: QueryOptions): ClusterQuery {
  const kind = name as QueryKind;
  if (kind === 'compare') {
    const comparison = comparisonOf(rest, options as never);
    const expected = comparison.expected.flatMap((each) => ['--expect', each]);
    const words = [kind, '--kernel', '--proxies-only', '--limit', '200', ...expected, '-o', 'json'];
    return { kind, words, comparison };
  }
  const request = QUERIES[kind].request(rest, (kind === 'dump' ? { output: 'archive' } : options) as never);
  if (kind === 'dump') return { kind, words: [kind], file: rest[0] };
  if (kind === 'drain-status') return drainQuery(request as DrainRequest, options);
  if (kind === 'version')
    return { kind, words: ['status', '-o', 'json'], isClientOnly: options.client === true };
  const pods = kind === 'trace' ? podEnds(request as TraceRequest) : undefined;
  const { from, to } = pods ?? {};
  const flags = flagsOf(kind, { ...options, ...(from && { from: undefined }), ...(to && { to: undefined }) });
  const once = kind === 'top' ? ['--once'] : [];
  return { kind, words: [kind, ...rest, ...flags, ...once, '-o', 'json'], pods };
}

type DrainRequest = ReturnType<typeof drainStatusCommand.request>;

/** @throws UsageError */
function drainQuery(
  { targets, waitMilliseconds }: DrainRequest,
  { node: nodes }: Pick<ClusterOptions, 'node'>,
): ClusterQuery {
  if (nodes) throw new UsageError('drain-status queries all nodes; leave out --node');
  const words = [...targets.nodes.map((node) => `node/${node}`), ...targets.addresses];
  return { kind: 'drain-status', words, drain: { targets, waitMilliseconds } };
}

interface ComparisonOptions extends Pick<ComparisonQuery, 'nodeSelector' | 'image'> {
  readonly expect?: readonly string[];
  readonly requestTimeout?: string;
}

/** Pulling the image and starting the pod included. Milliseconds. */
const COMPARED_WITHIN = 120_000;

/** @throws UsageError */
function comparisonOf(
  nodes: readonly string[],
  { expect = [], nodeSelector, image, requestTimeout = '0' }: ComparisonOptions,
): ComparisonQuery {
  refuseUnknownDifferences(expect);
  const timeout = timeoutOf(requestTimeout) ?? COMPARED_WITHIN;
  return { nodes: nodes.map(nodeName), nodeSelector, image, expected: expect, timeout };
}

type TraceRequest = ReturnType<typeof traceCommand.request>;

function podEnds(request: TraceRequest): PodEnds | undefined {
  if (!('named' in request)) return undefined;
  const { from, to } = request.named;
  if (!('pod' in from) && !('pod' in to)) return undefined;
  const ofSender = 'kind' in from && from.kind !== 'node' ? from.address?.family : undefined;
  return {
    ...('pod' in from && { from }),
    ...('pod' in to && { to }),
    family: 'to' in to ? to.to.family : ofSender,
  };
}

/** As the subcommand of a node takes them. */
function flagsOf(kind: QueryKind, options: QueryOptions): readonly string[] {
  return without(QUERIES[kind], ...HOW_TO_PRINT, watchOption.long!).flatMap((option) => {
    const value = options[option.attributeName()];
    if (value === undefined || value === option.defaultValue) return [];
    return value === true ? [option.long!] : [option.long!, String(value)];
  });
}

function without({ options = [] }: CommandForm, ...names: readonly string[]): readonly Option[] {
  return options.filter((option) => !names.includes(option.long!));
}

/** A command line names nodes that do not exist. */
export class UnknownNodeError extends NamedError {
  constructor(nodes: readonly string[]) {
    super(`the cluster has no node ${nodes.join(', ')}; kubectl get nodes lists them`);
  }
}
