import type { Option } from 'commander';
import type { NamedPod } from '../../../application/trace/named-pod.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import { isServiceKey } from '../../../domain/model/service-port-name.js';
import { UsageError } from '../usage-error.js';
import { diff } from './diff.js';
import { dump } from './dump.js';
import { explain } from './explain.js';
import { history } from './history.js';
import { serviceName } from '../command-line/service-names.js';
import { services } from './services.js';
import { status } from './status.js';
import { outputOptions, watchOption, type CommandForm } from '../command-line/subcommand.js';
import { top } from './top.js';
import { trace } from './trace.js';

/** What the proxies of all nodes can be asked: what one node's can, but for what makes sense for one alone. */
const QUESTIONS = {
  status,
  services,
  explain: {
    ...explain,
    usage: 'NAMESPACE/NAME|NAME -n NAMESPACE [flags]',
    options: without(explain, '--probe'),
  },
  trace: { ...trace, options: without(trace, '--queries') },
  diff,
  history,
  top,
  dump: { ...dump, usage: '--to FOLDER [flags]' },
} as const satisfies Readonly<Record<string, CommandForm>>;

export type QuestionKind = keyof typeof QUESTIONS;

/** Options of the command of all nodes itself. */
const HOW_TO_PRINT = [...outputOptions, watchOption].map(({ long }) => long!);

/** How the questions read on the command line; the form of the answer is an option of all. */
export const QUESTION_FORMS = Object.values<CommandForm>(QUESTIONS).map((one) => ({
  ...one,
  options: [...without(one, ...HOW_TO_PRINT), ...(one === QUESTIONS.status ? [watchOption] : [])],
}));

/** The questions that are answered with a list of objects. */
export const LISTS: readonly QuestionKind[] = ['status', 'services', 'history'];

/** The kinds of questions. */
export const CLUSTER_QUESTIONS = Object.keys(QUESTIONS) as readonly QuestionKind[];

/** A question to the proxies of all nodes. */
export interface ClusterQuestion {
  readonly kind: QuestionKind;
  /** The subcommand that each node's proxy is asked with, and its arguments. */
  readonly words: readonly string[];
  /** The pod that packets to be traced come from, by its name, and their family, if it is known. */
  readonly sender?: { readonly from: NamedPod; readonly family?: IpFamily };
  /** What to explain. */
  readonly service: ServiceKey;
  /** The folder for what is dumped. */
  readonly to: string;
}

/** The values of the options of a question, by name in camel case. */
export type QuestionOptions = Readonly<Record<string, unknown>>;

/** The question in these arguments. @throws UsageError */
export function questionOf(
  [name = '', ...rest]: readonly string[],
  options: QuestionOptions,
): ClusterQuestion {
  const kind = name as QuestionKind;
  const service = explainedService(rest, options);
  const { to = '' } = options;
  QUESTIONS[kind].request(rest, options as never);
  if (kind === 'explain' && service === undefined)
    throw new UsageError(
      `explain takes one Service as NAMESPACE/NAME, or as NAME with -n, got [${rest.join(' ')}]`,
    );
  if (kind === 'dump') {
    if (to === '') throw new UsageError('dump takes --to FOLDER, a new folder to write to');
    return { kind, words: [kind], service: '', to: String(to) };
  }
  const once = kind === 'top' ? ['--once'] : [];
  const sender = kind === 'trace' ? senderOf(trace.request(rest, options)) : undefined;
  const flags = flagsOf(kind, sender ? { ...options, from: undefined } : options);
  const words = [kind, ...rest, ...flags, ...once, '-o', 'json'];
  return { kind, words, ...(sender && { sender }), service: service ?? '', to: '' };
}

function senderOf(request: ReturnType<typeof trace.request>): ClusterQuestion['sender'] {
  if (!('named' in request && 'pod' in request.named.from)) return undefined;
  const { from, to } = request.named;
  return { from, ...('service' in to ? {} : { family: to.to.family }) };
}

/** The one Service that all nodes are asked to explain. */
function explainedService(rest: readonly string[], { namespace }: QuestionOptions): ServiceKey | undefined {
  const [name] = rest;
  const named =
    name === undefined || rest.length > 1 ? undefined : serviceName(name, namespace as string | undefined);
  return named && named.port === undefined && isServiceKey(named.service) ? named.service : undefined;
}

/** As the subcommand of a node takes them. */
function flagsOf(kind: QuestionKind, options: QuestionOptions): readonly string[] {
  return without(QUESTIONS[kind], ...HOW_TO_PRINT).flatMap((option) => {
    const value = options[option.attributeName()];
    if (value === undefined || value === option.defaultValue) return [];
    return value === true ? [option.long!] : [option.long!, String(value)];
  });
}

function without({ options = [] }: CommandForm, ...names: readonly string[]): readonly Option[] {
  return options.filter((option) => !names.includes(option.long!));
}
