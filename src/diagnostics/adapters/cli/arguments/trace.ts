import { Option } from 'commander';
import type { TracedRules } from '../../../application/trace/trace-packets.js';
import { parseDestinationName, type NamedDestination } from '../../../application/trace/named-destination.js';
import { parsePodName, type NamedPod } from '../../../application/trace/named-pod.js';
import {
  InvalidQueryError,
  parseQuery,
  parseSource,
  type TraceQuery,
  type TraceSource,
} from '../../../domain/trace/query.js';
import { UsageError, refuseOperands } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputFormat } from '../command-line/options.js';

interface TraceOptions {
  readonly from?: string;
  readonly to?: string;
  readonly namespace?: string;
  readonly queries?: string;
  readonly kernel?: boolean;
  readonly output?: OutputFormat;
}

/** A query from a pod or to a Service by its name. */
export interface NamedQuery {
  readonly from: TraceSource | NamedPod;
  readonly to: NamedDestination | Omit<TraceQuery, 'from'>;
}

/** Which packets to follow: that of one query, or those of a file of many; `-` is standard input. */
type TracedQueries =
  | { readonly query: TraceQuery }
  | { readonly named: NamedQuery }
  | { readonly queries: string };

export const trace = subcommand({
  name: 'trace',
  description:
    'Follow the first packet of a connection through the rules, and show what becomes of it. Asks the proxy running on this node; with --manifests, works without one.',
  usage: '--from SOURCE --to ADDRESS:PORT[/PROTOCOL]|NAME[:PORT] [flags]',
  options: [
    new Option(
      '--from <source>',
      "Where it comes from: a pod's address, pod/NAME or pod/NAMESPACE/NAME, node, or outside[:ADDRESS].",
    ),
    new Option(
      '--to <destination>',
      'ADDRESS:PORT or ADDRESS:PORT/PROTOCOL, IPv6 addresses in brackets; TCP without a protocol. Or a Service as NAME or NAMESPACE/NAME, with :PORT where it has several: its cluster IP.',
    ),
    new Option('-n, --namespace <namespace>', 'The namespace of names without one.'),
    new Option('--kernel', 'Use the rules as the kernel has them now, those of other programs among them.'),
    new Option(
      '--queries <file>',
      'Read queries from a file, or from standard input (-): {"from": SOURCE, "to": DESTINATION}, one a line. Print one JSON answer a line.',
    ),
    ...outputOptions,
  ],
  request(operands, { kernel = false, output = 'text', ...options }: TraceOptions) {
    refuseOperands(operands, 'kubeproxy trace');
    const rules: TracedRules = kernel ? 'actual' : 'desired';
    return { rules, output, ...queriesOf(options) };
  },
});

function queriesOf({ from, to, namespace, queries }: TraceOptions): TracedQueries {
  if (queries !== undefined) {
    if (from === undefined && to === undefined) return { queries };
    throw new UsageError('trace takes either --queries, or --from and --to');
  }
  if (from === undefined || to === undefined)
    throw new UsageError(
      'trace takes --from SOURCE and --to ADDRESS:PORT[/PROTOCOL] or a Service, or --queries FILE',
    );
  const pod = parsePodName(from, namespace);
  const service = parseDestinationName(to, namespace);
  try {
    if (!pod && !service) return { query: parseQuery(from, to) };
    return { named: { from: pod ?? parseSource(from), to: service ?? parseQuery('node', to) } };
  } catch (error) {
    if (error instanceof InvalidQueryError) throw new UsageError(error.message);
    throw error;
  }
}
