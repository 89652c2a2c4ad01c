import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../usage-error.js';
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
  subcommand,
  type OutputOptions,
  type WatchOptions,
} from '../command-line/options.js';
import { migrate, migrationOf, type MigrationQuestion } from '../migration/migrate-arguments.js';

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

/** A migration, below `cluster`, of whose access it makes use. */
export interface MigrateRequest extends OutputOptions {
  readonly name: 'migrate';
  readonly migration: MigrationQuestion;
  readonly access: ClusterAccess;
}

/** The plugin for kubectl: queries the proxies of all nodes. */
export const cluster = subcommand({
  name: 'cluster',
  description:
    'Query the proxies of all nodes, through the API server and with your own kubeconfig and rights.',
  usage: 'COMMAND [flags]',
  commands: [...QUESTION_FORMS, migrate],
  options: [
    new Option('--proxy-namespace <namespace>', 'The namespace of the pods of the proxies.').default(
      'kube-system',
    ),
    new Option('-l, --selector <labels>', 'The labels of these pods.').default(
      'k8s-app in (kube-proxy, kube-proxy-ts, kube-proxy-ts-iptables, kube-proxy-ts-ipvs, kube-proxy-ts-nftables)',
    ),
    new Option('--context <name>', 'The context of the kubeconfig to use.'),
    new Option('--parallel <number>', 'How many are asked at a time.').default(20).argParser(positive),
    ...listOutputOptions,
  ],
  request(operands, options: ClusterAccess & OutputOptions & WatchOptions & QuestionOptions) {
    const [kind = '', ...rest] = operands;
    const { proxyNamespace, selector, parallel, context, output, watch } = options;
    if (output === 'name' && kind !== '' && !LISTS.includes(kind as QuestionKind))
      throw new UsageError(`-o name is for ${LISTS.join(', ')}, not for ${kind}`);
    const access: ClusterAccess = { proxyNamespace, selector, parallel, context };
    if (kind === 'migrate') {
      const migration: MigrateRequest = { name: kind, migration: migrationOf(rest, options), access, output };
      return migration;
    }
    if (!CLUSTER_QUESTIONS.includes(kind as never))
      throw new UsageError(`a command is missing: ${CLUSTER_QUESTIONS.join(', ')} or migrate`);
    return { question: questionOf(operands, options), access, output, watch };
  },
});

function positive(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('it must be a whole number from 1 to 9999.');
}
