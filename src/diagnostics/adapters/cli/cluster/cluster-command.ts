/** The command line of the kubectl plugin: the commands for all nodes, and what each node is queried with. */

import { Option } from 'commander';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import {
  listOutputOptions,
  positiveNumber,
  subcommand,
  type OutputOptions,
  type WatchOptions,
  expectOption,
  refuseUnknownDifferences,
  type ServiceName,
  outputOptions,
  watchOption,
} from '../options.js';
import type { NamedPod } from '../../../application/trace/named-ends.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { SIDE_MODES } from '../../../domain/compare/side.js';
import { diffCommand } from '../commands/diff.js';
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
  /** Of the kubeconfig; undefined: the current one. */
  readonly context?: string;
}

/** The commands for all nodes: those of one node, without the options that make sense for one node only. */
const QUERIES = {
  status: {
    ...statusCommand,
    description:
      'Show how the proxy of each node is, problems first. Ends with 0 when all are good, 1 when some are degraded, 2 when some are not serving or do not answer.',
  },
  services: {
    ...servicesCommand,
    description: 'List Services, on how many nodes each is programmed, and what it is on the others.',
  },
  explain: {
    ...explainCommand,
    description:
      'Show whether all nodes know the same addresses and endpoints of a Service, and have programmed it.',
    usage: 'NAME... [flags]',
    options: without(explainCommand, '--probe'),
  },
  trace: {
    ...traceCommand,
    description:
      'Show on which nodes what becomes of the first packet of a connection that enters or leaves there.',
    options: without(traceCommand, '--queries'),
  },
  diff: {
    ...diffCommand,
    description:
      "Compare the kernel's rules on each node with the desired rules of its proxy: - unexpected, + missing.",
    options: without(diffCommand, '--plan'),
  },
  history: {
    ...historyCommand,
    description: 'Show the last thousand changes of all nodes, or those of these Services, the oldest first.',
  },
  top: {
    ...topCommand,
    description: 'Show the connections of Services within one interval, added up over all nodes.',
  },
  dump: {
    ...dumpCommand,
    description:
      'Collect a support bundle of all nodes and of the objects of the proxies into one archive, without secrets. FILE is a new .tar.gz archive; - is standard output.',
  },
  compare: subcommand({
    name: 'compare',
    description:
      'Compare the kernel of each node with the rules that this program would write there in a mode: the check before a roll-out. Runs a pod on each node for it, which is deleted afterwards, and changes nothing else. Ends with 0 when nothing differs but what is expected, 1 when something differs or a node could not be compared, 2 when something is not understood.',
    usage: '--proxy-mode MODE [NODE...] [flags]',
    options: [
      new Option('--proxy-mode <mode>', `The mode to compare with: ${SIDE_MODES.join(', ')}.`),
      new Option('--node-selector <labels>', 'Only nodes with these labels.'),
      expectOption('Known differences to accept, by name; docs/compare.md lists them. Repeatable.'),
      new Option('--image <image>', 'The image of this program, where no DaemonSet runs it yet.'),
      new Option('--timeout <seconds>', 'How long one node may take.').default(120).argParser(positiveNumber),
    ],
    request: comparisonOf,
  }),
} as const satisfies Readonly<Record<string, CommandForm>>;

export type QueryKind = keyof typeof QUERIES;

/** Options of the command of all nodes itself. */
const HOW_TO_PRINT = [...outputOptions, watchOption].map(({ long }) => long!);

/** How the questions read on the command line; the form of the answer is an option of all. */
const QUERY_FORMS = Object.values<CommandForm>(QUERIES).map((one) => ({
  ...one,
  options: [...without(one, ...HOW_TO_PRINT), ...(one === QUERIES.status ? [watchOption] : [])],
}));

/** The questions that are answered with a list of objects. */
const LISTS: readonly QueryKind[] = ['status', 'services', 'history'];

/** The kinds of questions. */
export const CLUSTER_QUERIES = Object.keys(QUERIES) as readonly QueryKind[];

/** The plugin for kubectl: queries the proxies of all nodes. */
export const clusterCommand = subcommand({
  name: 'cluster',
  description:
    'Query the proxies of all nodes, through the API server and with your own kubeconfig and rights.',
  usage: 'COMMAND [flags]',
  commands: QUERY_FORMS,
  options: [
    new Option('--proxy-namespace <namespace>', 'The namespace of the pods of the proxies.').default(
      'kube-system',
    ),
    new Option('-l, --selector <labels>', 'The labels of these pods.').default(
      'k8s-app in (kube-proxy, kube-proxy-ts, kube-proxy-ts-iptables, kube-proxy-ts-ipvs, kube-proxy-ts-nftables)',
    ),
    new Option('--context <name>', 'The context of the kubeconfig to use.'),
    new Option('--parallel <number>', 'How many are asked at a time.').default(20).argParser(positiveNumber),
    ...listOutputOptions,
  ],
  request(operands, options: ClusterAccess & OutputOptions & WatchOptions & QueryOptions) {
    const [kind = ''] = operands;
    const { proxyNamespace, selector, parallel, context, output, watch } = options;
    if (output === 'name' && kind !== '' && !LISTS.includes(kind as QueryKind))
      throw new UsageError(`-o name is for ${LISTS.join(', ')}, not for ${kind}`);
    const access: ClusterAccess = { proxyNamespace, selector, parallel, context };
    if (!CLUSTER_QUERIES.includes(kind as never))
      throw new UsageError(`a command is missing: ${CLUSTER_QUERIES.join(', ')}`);
    return { query: queryOf(operands, options), access, output, watch };
  },
});

/** A query to the proxies of all nodes. */
export interface ClusterQuery {
  readonly kind: QueryKind;
  /** The subcommand for the proxy of each node, and its arguments. */
  readonly words: readonly string[];
  /** The pod that packets to be traced come from, by its name, and their family, if it is known. */
  readonly sender?: { readonly from: NamedPod; readonly family?: IpFamily };
  /** What to explain. */
  readonly services: readonly ServiceName[];
  /** The archive for a support bundle; missing: the usual name. */
  readonly file?: string | undefined;
  readonly comparison?: ComparisonQuery;
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
  refuseMissing(kind, rest, options);
  QUERIES[kind].request(rest, (kind === 'dump' ? { output: 'archive' } : options) as never);
  if (kind === 'explain') return { kind, words: [kind], services: explainedServices(rest, options) };
  if (kind === 'dump') return { kind, words: [kind], services: [], file: rest[0] };
  if (kind === 'compare') {
    const comparison = comparisonOf(rest, options as never);
    const expected = comparison.expected.flatMap((each) => ['--expect', each]);
    const words = [kind, '--kernel', '--proxies-only', '--limit', '200', ...expected, '-o', 'json'];
    return { kind, words, services: [], comparison };
  }
  const once = kind === 'top' ? ['--once'] : [];
  const sender = kind === 'trace' ? senderOf(traceCommand.request(rest, options)) : undefined;
  const flags = flagsOf(kind, sender ? { ...options, from: undefined } : options);
  const words = [kind, ...rest, ...flags, ...once, '-o', 'json'];
  return { kind, words, ...(sender && { sender }), services: [] };
}

interface ComparisonOptions extends Pick<ComparisonQuery, 'nodeSelector' | 'image' | 'timeout'> {
  readonly expect?: readonly string[];
}

/** @throws UsageError */
function comparisonOf(
  nodes: readonly string[],
  { expect = [], nodeSelector, image, timeout }: ComparisonOptions,
): ComparisonQuery {
  refuseUnknownDifferences(expect);
  return { nodes, nodeSelector, image, expected: expect, timeout: timeout * 1000 };
}

/** Rejects missing arguments. @throws UsageError */
function refuseMissing(kind: QueryKind, rest: readonly string[], { from, to }: QueryOptions): void {
  if (kind === 'explain' && rest.length === 0) throw new UsageError('explain takes Services, got none');
  if (kind === 'trace' && (from === undefined || to === undefined))
    throw new UsageError('trace takes --from SOURCE and --to ADDRESS:PORT[/PROTOCOL] or a Service');
}

function senderOf(request: ReturnType<typeof traceCommand.request>): ClusterQuery['sender'] {
  if (!('named' in request && 'pod' in request.named.from)) return undefined;
  const { from, to } = request.named;
  return { from, ...('service' in to ? {} : { family: to.to.family }) };
}

/** The Services to explain. @throws UsageError for an address or a port, which are the same on all nodes */
function explainedServices(rest: readonly string[], options: QueryOptions): readonly ServiceName[] {
  return explainCommand.request(rest, options as never).subjects.map((subject) => {
    if (typeof subject !== 'string') return subject;
    throw new UsageError(
      `explain of all nodes takes Services, got ${subject}; kubeproxy explain on a node takes addresses`,
    );
  });
}

/** As the subcommand of a node takes them. */
function flagsOf(kind: QueryKind, options: QueryOptions): readonly string[] {
  return without(QUERIES[kind], ...HOW_TO_PRINT).flatMap((option) => {
    const value = options[option.attributeName()];
    if (value === undefined || value === option.defaultValue) return [];
    return value === true ? [option.long!] : [option.long!, String(value)];
  });
}

function without({ options = [] }: CommandForm, ...names: readonly string[]): readonly Option[] {
  return options.filter((option) => !names.includes(option.long!));
}
