import { InvalidArgumentError, Option } from 'commander';
import { isServiceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import { UsageError } from '../errors.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

/** What the proxies of all nodes can be asked. */
type ClusterQuestion =
  | { readonly kind: 'status' }
  | { readonly kind: 'explain'; readonly service: ServiceKey }
  | { readonly kind: 'top' };

/** How the proxies of a cluster are found and asked. */
interface ClusterAccess {
  /** The namespace of their pods. */
  readonly namespace: string;
  /** The labels of their pods, as a selector. */
  readonly selector: string;
  /** How many are asked at a time. */
  readonly parallel: number;
  /** Of the kubeconfig; undefined: the current one. */
  readonly context?: string;
}

/** What to ask the proxies of all nodes, and how. */
export interface ClusterRequest {
  readonly name: 'cluster';
  readonly question: ClusterQuestion;
  readonly access: ClusterAccess;
  readonly output: OutputFormat;
}

export const cluster: Subcommand<ClusterRequest> = {
  name: 'cluster',
  description:
    'Ask the proxies of all nodes, through the API server and with your own kubeconfig and rights: their status, how they handle a Service, or their connections.',
  usage: 'status|explain NAMESPACE/NAME|top [flags]',
  options: [
    new Option('-n, --namespace <namespace>', 'The namespace of the pods of the proxies.').default(
      'kube-system',
    ),
    new Option('-l, --selector <labels>', 'The labels of these pods.').default(
      'k8s-app in (kube-proxy, kube-proxy-ts)',
    ),
    new Option('--context <name>', 'The context of the kubeconfig to use.'),
    new Option('--parallel <number>', 'How many are asked at a time.').default(20).argParser(positive),
    outputOption(),
  ],
  request(operands, options) {
    const { namespace, selector, parallel, context } = options as unknown as ClusterAccess;
    return {
      name: 'cluster',
      question: questionOf(operands),
      access: { namespace, selector, parallel, ...(context !== undefined && { context }) },
      output: outputOf(options),
    };
  },
};

function questionOf([kind, ...rest]: readonly string[]): ClusterQuestion {
  const [service = ''] = rest;
  if ((kind === 'status' || kind === 'top') && rest.length === 0) return { kind };
  if (kind === 'explain' && rest.length === 1 && isServiceKey(service)) return { kind, service };
  throw new UsageError(
    `cluster takes status, explain NAMESPACE/NAME or top, got [${[kind, ...rest].join(' ').trim()}]`,
  );
}

function positive(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('it must be a whole number from 1 to 9999.');
}
