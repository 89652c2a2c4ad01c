import { Option } from 'commander';
import { isServiceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import { UsageError } from '../usage-error.js';
import { optionalService } from './operands.js';
import { services } from './services.js';
import { trace } from './trace.js';

/** What the proxies of all nodes can be asked, and the options that each takes. */
const OPTIONS = {
  status: [],
  services: ['serviceNamespace', 'failing', 'withoutEndpoints'],
  explain: [],
  trace: ['from', 'to', 'kernel'],
  diff: [],
  history: [],
  top: [],
  dump: ['to'],
} as const satisfies Readonly<Record<string, readonly (keyof QuestionOptions)[]>>;

export type QuestionKind = keyof typeof OPTIONS;

/** The kinds of questions. */
export const CLUSTER_QUESTIONS = Object.keys(OPTIONS) as readonly QuestionKind[];

/** A question to the proxies of all nodes. */
export interface ClusterQuestion {
  readonly kind: QuestionKind;
  /** The subcommand that each node's proxy is asked with, and its arguments. */
  readonly words: readonly string[];
  /** What to explain. */
  readonly service: ServiceKey;
  /** The folder for what is dumped. */
  readonly to: string;
}

/** The values of `questionOptions`, by name in camel case. */
export interface QuestionOptions {
  readonly serviceNamespace?: string;
  readonly failing?: boolean;
  readonly withoutEndpoints?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly kernel?: boolean;
}

/** Options of single questions. */
export const questionOptions: readonly Option[] = [
  new Option('--service-namespace <namespace>', 'services: only those of this namespace.'),
  new Option('--failing', 'services: only those of which a port failed to be programmed.'),
  new Option('--without-endpoints', 'services: only those without an endpoint that can be used.'),
  new Option('--from <source>', "trace: where it comes from: a pod's address, node, or outside[:ADDRESS]."),
  new Option('--to <destination>', 'trace: ADDRESS:PORT[/PROTOCOL]. dump: the new folder to write to.'),
  new Option('--kernel', 'trace: use the rules as the kernels have them now.'),
];

/** The question in these arguments. @throws UsageError */
export function questionOf(operands: readonly string[], options: QuestionOptions): ClusterQuestion {
  const [name = '', ...rest] = operands;
  if (!Object.hasOwn(OPTIONS, name)) throw notTaken(operands);
  const kind = name as QuestionKind;
  const taken: readonly string[] = OPTIONS[kind];
  const stray = questionOptions.find((option) => {
    const attribute = option.attributeName() as keyof QuestionOptions;
    return options[attribute] !== undefined && !taken.includes(attribute);
  });
  if (stray) throw new UsageError(`cluster ${kind} does not take ${stray.long}`);
  const words = [kind, ...argumentsOf(kind, rest, options), ...(kind === 'dump' ? [] : ['-o', 'json'])];
  return { kind, words, service: rest[0] ?? '', to: options.to ?? '' };
}

/** As the subcommand of a node takes them. @throws UsageError if it does not */
function argumentsOf(
  kind: QuestionKind,
  rest: readonly string[],
  { serviceNamespace: namespace, failing = false, withoutEndpoints = false, ...options }: QuestionOptions,
): readonly string[] {
  switch (kind) {
    case 'services':
      services.request(rest, { namespace, failing, withoutEndpoints, output: 'json' });
      return [
        ...rest,
        ...(namespace === undefined ? [] : ['-n', namespace]),
        ...(failing ? ['--failing'] : []),
        ...(withoutEndpoints ? ['--without-endpoints'] : []),
      ];
    case 'trace': {
      trace.request(rest, options);
      const { from = '', to = '', kernel } = options;
      return ['--from', from, '--to', to, ...(kernel ? ['--kernel'] : [])];
    }
    case 'diff':
    case 'history':
      optionalService(kind, rest);
      return rest;
    case 'explain':
      if (rest.length === 1 && isServiceKey(rest[0]!)) return rest;
      break;
    case 'dump':
      if (rest.length === 0 && options.to) return [];
      throw new UsageError('cluster dump takes --to FOLDER, a new folder to write to');
    case 'status':
    case 'top':
      if (rest.length === 0) return kind === 'top' ? ['--once'] : [];
  }
  throw notTaken([kind, ...rest]);
}

function notTaken(operands: readonly string[]): UsageError {
  return new UsageError(
    `cluster takes status, services [NAME...], explain NAMESPACE/NAME, trace, diff or history [NAMESPACE/NAME], top, dump or validate PATH..., got [${operands.join(' ').trim()}]`,
  );
}
