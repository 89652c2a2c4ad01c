import { Option } from 'commander';
import type { RowFilter } from '../../../application/status/service-row.js';
import type { TracedRules } from '../../../application/trace/trace-packets.js';
import { isServiceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import type { TraceQuery } from '../../../domain/trace/query.js';
import { UsageError } from '../usage-error.js';
import { diff } from './diff.js';
import { history } from './history.js';
import { services } from './services.js';
import { trace } from './trace.js';

/** What the proxies of all nodes can be asked. */
export type ClusterQuestion =
  | { readonly kind: 'status' | 'top' }
  | { readonly kind: 'explain'; readonly service: ServiceKey }
  | { readonly kind: 'services'; readonly filter: RowFilter }
  | { readonly kind: 'trace'; readonly query: TraceQuery; readonly rules: TracedRules }
  | { readonly kind: 'diff' | 'history'; readonly service?: ServiceKey }
  | { readonly kind: 'dump'; readonly to: string };

/** The values of `questionOptions`, by name in camel case. */
interface QuestionOptions {
  readonly serviceNamespace?: string;
  readonly failing?: boolean;
  readonly withoutEndpoints?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly kernel?: true;
}

/** Options of single questions. */
export const questionOptions = (): readonly Option[] => [
  new Option('--service-namespace <namespace>', 'services: only those of this namespace.'),
  new Option('--failing', 'services: only those of which a port failed to be programmed.'),
  new Option('--without-endpoints', 'services: only those without an endpoint that can be used.'),
  new Option('--from <source>', "trace: where it comes from: a pod's address, node, or outside[:ADDRESS]."),
  new Option('--to <destination>', 'trace: ADDRESS:PORT[/PROTOCOL]. dump: the new folder to write to.'),
  new Option('--kernel', 'trace: use the rules as the kernels have them now.'),
];

const OPTIONS: Readonly<Record<ClusterQuestion['kind'], readonly (keyof QuestionOptions)[]>> = {
  status: [],
  services: ['serviceNamespace', 'failing', 'withoutEndpoints'],
  explain: [],
  trace: ['from', 'to', 'kernel'],
  diff: [],
  history: [],
  top: [],
  dump: ['to'],
};

/** The kinds of questions. */
export const CLUSTER_QUESTIONS = Object.keys(OPTIONS) as readonly ClusterQuestion['kind'][];

/** The question in these arguments. @throws UsageError */
export function questionOf(
  [kind = '', ...rest]: readonly string[],
  options: QuestionOptions,
): ClusterQuestion {
  if (!Object.hasOwn(OPTIONS, kind)) throw notTaken([kind, ...rest]);
  const known = kind as ClusterQuestion['kind'];
  const stray = (Object.keys(ALL_OPTIONS) as (keyof QuestionOptions)[]).find(
    (name) => options[name] !== undefined && !OPTIONS[known].includes(name),
  );
  if (stray !== undefined) throw new UsageError(`cluster ${kind} does not take ${ALL_OPTIONS[stray]}`);
  return read(known, rest, options);
}

const ALL_OPTIONS: Readonly<Record<keyof QuestionOptions, string>> = {
  serviceNamespace: '--service-namespace',
  failing: '--failing',
  withoutEndpoints: '--without-endpoints',
  from: '--from',
  to: '--to',
  kernel: '--kernel',
};

function read(
  kind: ClusterQuestion['kind'],
  rest: readonly string[],
  { serviceNamespace, failing = false, withoutEndpoints = false, ...options }: QuestionOptions,
): ClusterQuestion {
  const [service = ''] = rest;
  switch (kind) {
    case 'services': {
      const asked = services.request(rest, { namespace: serviceNamespace, failing, withoutEndpoints });
      const { namespace, names } = asked;
      return {
        kind,
        filter: { ...(namespace !== undefined && { namespace }), names, failing, withoutEndpoints },
      };
    }
    case 'trace': {
      const asked = trace.request(rest, { ...options });
      if ('query' in asked) return { kind, query: asked.query, rules: asked.rules };
      break;
    }
    case 'diff':
    case 'history': {
      const asked = (kind === 'diff' ? diff : history).request(rest, {});
      return { kind, ...(asked.service !== undefined && { service: asked.service }) };
    }
    case 'explain':
      if (rest.length === 1 && isServiceKey(service)) return { kind, service };
      break;
    case 'dump':
      if (rest.length === 0 && options.to) return { kind, to: options.to };
      throw new UsageError('cluster dump takes --to FOLDER, a new folder to write to');
    case 'status':
    case 'top':
      if (rest.length === 0) return { kind };
  }
  throw notTaken([kind, ...rest]);
}

function notTaken(operands: readonly string[]): UsageError {
  return new UsageError(
    `cluster takes status, services [NAME...], explain NAMESPACE/NAME, trace, diff or history [NAMESPACE/NAME], top, dump or validate PATH..., got [${operands.join(' ').trim()}]`,
  );
}
