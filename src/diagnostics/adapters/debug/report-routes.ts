/** The debug routes that report state: status, history, Services, endpoints, explanations, differences and traces. Times are RFC 3339. */

import type { ChangeHistory, HistoryFilter } from '../../../application/status/change-history.js';
import type { ReportStatus } from '../../application/status/report-status.js';
import type { SyncState } from '../../application/status/proxy-status.js';
import {
  respondJson,
  type Routes,
  type Handler,
  JSON_TYPE,
  clientLeft,
} from '../../../adapters/http/router.js';
import { type ExplainAddress, parseSubject } from '../../application/explain/explain-address.js';
import type { Explain } from '../../application/explain/explain.js';
import { pipeline } from 'node:stream/promises';
import type { ListServices } from '../../application/status/list-services.js';
import type { SearchServices } from '../../application/status/search-services.js';
import type { RowFilter } from '../../application/status/service-row.js';
import { readDrainTargets, type ReportDrain } from '../../application/drain/report-drain.js';
import type { Diff } from '../../application/difference/diff.js';
import { errorMessage } from '../../../application/error-message.js';
import { parseDuration } from '../../../application/words.js';
import type { TraceAnswer } from '../../application/trace/answer.js';
import {
  parseNamedQuery,
  UnknownPodError,
  withoutNames,
  type ClusterNames,
} from '../../application/trace/named-ends.js';
import { CannotTraceError, type TracedRules } from '../../application/trace/trace-packets.js';
import { InvalidQueryError, type TraceQuery } from '../../domain/trace/query.js';

/**
 * `/debug/status`: how the proxy is, a `ProxyStatus`, always with 200. `/debug/history?service=NAMESPACE/NAME&namespace=&since=10m&limit=`,
 * `service` repeatable: the last changes that pass all of these filters, a `History`.
 * @param renew refreshes what only this route reports
 */
export function statusRoutes(
  report: ReportStatus,
  history: ChangeHistory,
  renew: () => Promise<void> = () => Promise.resolve(),
): Routes {
  return {
    async '/debug/status'(_, response) {
      await renew();
      respondJson(response, 200, report.status());
    },
    '/debug/history'({ parameters }, response) {
      const filter = historyFilterOf(parameters);
      if ('error' in filter) return respondJson(response, 400, filter);
      respondJson(response, 200, history.changes(filter));
    },
  };
}

function historyFilterOf(parameters: URLSearchParams): HistoryFilter | { readonly error: string } {
  const [since, limit] = [parameters.get('since'), parameters.get('limit')];
  const milliseconds = since === null ? undefined : parseDuration(since);
  if (since !== null && milliseconds === undefined) return { error: 'since is a duration such as 10m' };
  if (limit !== null && !/^[1-9]\d*$/.test(limit)) return { error: 'limit is a number of changes' };
  return {
    services: parameters.getAll('service').filter(Boolean),
    namespace: parameters.get('namespace') ?? undefined,
    since: milliseconds,
    limit: limit === null ? undefined : Number(limit),
  };
}

/**
 * Our own: `/debug/sync` shows whether everything is programmed, `/debug/explain?subject=` what the proxy does for a Service, an
 * address or a port, and why. 404, with the explanation, for what is not known. Times are RFC 3339.
 */
export function serviceRoutes(
  explain: Explain,
  addresses: ExplainAddress,
  syncState: () => SyncState,
): Routes {
  const service = async (key: string, response: Parameters<Handler>[1]): Promise<void> => {
    const explanation = await explain.service(key);
    respondJson(response, explanation.known || explanation.objects.length > 0 ? 200 : 404, explanation);
  };
  return {
    '/debug/sync': (_, response) => respondJson(response, 200, syncState()),
    '/debug/explain': ({ parameters }, response) => {
      const text = parameters.get('subject') ?? '';
      const subject = parseSubject(text);
      if (!subject)
        return respondJson(response, 400, {
          error: `subject ${JSON.stringify(text)} is neither NAMESPACE/NAME nor ADDRESS, ADDRESS:PORT or PORT`,
        });
      if (subject.kind === 'service') return service(subject.service, response);
      const explanation = addresses.address(subject);
      return respondJson(response, explanation.otherwise === undefined ? 200 : 404, explanation);
    },
  };
}

/**
 * `/debug/services?namespace=&name=&name=&problems=true`: a `ServiceList`, written portion by
 * portion while it is made. 200 also if names are unknown.
 */
export function serviceListRoutes(list: ListServices): Routes {
  return {
    '/debug/services': async ({ parameters }, response) => {
      response.writeHead(200, { 'Content-Type': JSON_TYPE, 'X-Content-Type-Options': 'nosniff' });
      try {
        await pipeline(jsonOf(list, filterOf(parameters)), response);
      } catch (error) {
        // The client has gone, and wants no more rows.
        if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
      }
    },
  };
}

/** A `ServiceList` as JSON, in pieces. */
async function* jsonOf(list: ListServices, filter: RowFilter): AsyncGenerator<string> {
  const { services, unknownNames } = await list.notProxied(filter);
  yield '{"services":[';
  let isFirst = true;
  for await (const rows of concatenated(list.rows(filter), services)) {
    const text = rows.map((row) => JSON.stringify(row)).join(',');
    if (text === '') continue;
    yield isFirst ? text : `,${text}`;
    isFirst = false;
  }
  yield `],"unknownNames":${JSON.stringify(unknownNames)}}`;
}

async function* concatenated<T>(portions: AsyncIterable<T>, last: T): AsyncGenerator<T> {
  yield* portions;
  yield last;
}

function filterOf(parameters: URLSearchParams): RowFilter {
  const namespace = parameters.get('namespace') ?? '';
  return {
    ...(namespace !== '' && { namespace }),
    names: parameters.getAll('name'),
    problems: parameters.get('problems') === 'true',
  };
}

/** Responds with a JSON value, unless the client has left. */
function json(answer: (parameters: URLSearchParams, left: AbortSignal) => Promise<object>): Handler {
  return async ({ parameters }, response) => {
    const left = clientLeft(response);
    const value = await answer(parameters, left);
    if (!left.aborted) respondJson(response, 200, value);
  };
}

const MOST_FOUND = 200;

/**
 * Our own: `/debug/search?text=web&problems=true&limit=200` finds Services by words of their names, ports, addresses and endpoints: exact
 * matches first, then those with problems.
 */
export function searchRoutes(services: SearchServices): Routes {
  return {
    '/debug/search': json((parameters, left) => {
      const limit = Number(parameters.get('limit') ?? MOST_FOUND);
      const problems = parameters.get('problems') === 'true';
      const text = parameters.get('text') ?? '';
      return services.search({ text, problems, limit: Number.isNaN(limit) ? MOST_FOUND : limit }, left);
    }),
  };
}

/** Our own: `/debug/diff` compares the kernel with the desired rules; with `?service=NAMESPACE/NAME`, repeatable, for these Services. */
export function differenceRoutes(diff: Diff): Routes {
  return { '/debug/diff': json((parameters) => diff.report(parameters.getAll('service'))) };
}

/**
 * Our own: `/debug/drain?target=10.244.1.7&target=node/n1&target=pod/shop/web-1`: the connections through this node that lead to endpoints,
 * a `NodeDrain`; without a target to those that terminate. Each reads all tracked connections: two at a time.
 */
export function drainRoutes(drain: Pick<ReportDrain, 'report'>): Routes {
  const semaphore = new Semaphore(AT_A_TIME);
  return {
    '/debug/drain': async ({ parameters }, response) => {
      const left = clientLeft(response);
      const targets = readDrainTargets(parameters.getAll('target'));
      if (typeof targets === 'string')
        return respondJson(response, 400, { error: `${JSON.stringify(targets)} is no node, pod or address` });
      try {
        respondJson(response, 200, await semaphore.run(left, () => drain.report(targets, left)));
      } catch (error) {
        if (left.aborted) return;
        if (!(error instanceof UnknownPodError)) throw error;
        respondJson(response, 404, { error: error.message });
      }
    },
  };
}

/** Each reads all rules of the kernel, or compiles all that are desired. */
const AT_A_TIME = 2;

/**
 * Our own: `/debug/trace?from=SOURCE&to=DESTINATION` shows the verdicts for new connections, by the desired rules,
 * or with `kernel=true` as they are. Both ends are as the command takes them, addresses or names. What cannot be answered is `{"error": …}`: 400 for a query that cannot be read, otherwise 500. Two are
 * followed at a time, and none for a client that has left.
 */
export function traceRoutes(
  trace: (query: TraceQuery, rules: TracedRules, signal: AbortSignal) => Promise<TraceAnswer>,
  names: ClusterNames,
): Routes {
  const semaphore = new Semaphore(AT_A_TIME);
  return {
    '/debug/trace': async ({ parameters }, response) => {
      const left = clientLeft(response);
      try {
        const query = await readTraceQuery(parameters, names);
        const rules = parameters.get('kernel') === 'true' ? 'actual' : 'desired';
        respondJson(response, 200, await semaphore.run(left, () => trace(query, rules, left)));
      } catch (error) {
        if (left.aborted) return;
        const status = error instanceof InvalidQueryError ? 400 : 500;
        const isUnknownPod = error instanceof InvalidQueryError && error.cause instanceof UnknownPodError;
        respondJson(response, status, {
          error: errorMessage(error),
          ...(isUnknownPod && { cause: 'UnknownPod' }),
        });
      }
    },
  };
}

/** @throws InvalidQueryError */
async function readTraceQuery(parameters: URLSearchParams, names: ClusterNames): Promise<TraceQuery> {
  try {
    const named = parseNamedQuery(parameters.get('from') ?? '', parameters.get('to') ?? '');
    return 'query' in named ? named.query : await withoutNames(named.named, names);
  } catch (error) {
    throw error instanceof CannotTraceError ? new InvalidQueryError(error.message, { cause: error }) : error;
  }
}

/** Limits how much work runs at a time. The rest waits in order. */
export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** @throws what the work throws; the signal's reason if it is aborted before the work begins */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}
