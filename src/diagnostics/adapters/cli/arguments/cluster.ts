import { Option } from 'commander';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import {
  CLUSTER_QUESTIONS,
  LISTS,
  QUESTION_FORMS,
  questionOf,
  type QuestionKind,
  type QuestionOptions,
} from './question.js';
import {
  listOutputOptions,
  positiveNumber,
  subcommand,
  type OutputOptions,
  type WatchOptions,
} from '../command-line/options.js';

/** How the proxies of a cluster are found and asked. */
export interface ClusterAccess {
  /** The namespace of their pods. */
  readonly proxyNamespace: string;
  /** The labels of their pods, as a selector. */
  readonly selector: string;
  /** How many are asked at a time. */
  readonly parallel: number;
  /** Of the kubeconfig; undefined: the current one. */
  readonly context?: string;
}

/** The plugin for kubectl: queries the proxies of all nodes. */
export const cluster = subcommand({
  name: 'cluster',
  description:
    'Query the proxies of all nodes, through the API server and with your own kubeconfig and rights.',
  usage: 'COMMAND [flags]',
  commands: QUESTION_FORMS,
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
  request(operands, options: ClusterAccess & OutputOptions & WatchOptions & QuestionOptions) {
    const [kind = ''] = operands;
    const { proxyNamespace, selector, parallel, context, output, watch } = options;
    if (output === 'name' && kind !== '' && !LISTS.includes(kind as QuestionKind))
      throw new UsageError(`-o name is for ${LISTS.join(', ')}, not for ${kind}`);
    const access: ClusterAccess = { proxyNamespace, selector, parallel, context };
    if (!CLUSTER_QUESTIONS.includes(kind as never))
      throw new UsageError(`a command is missing: ${CLUSTER_QUESTIONS.join(', ')}`);
    return { question: questionOf(operands, options), access, output, watch };
  },
});
