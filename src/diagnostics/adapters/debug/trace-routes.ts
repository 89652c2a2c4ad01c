import { errorMessage } from '../../../application/error-message.js';
import type { TraceAnswer } from '../../application/trace/answer.js';
import type { TracedRules } from '../../application/trace/trace-packets.js';
import { InvalidQueryError, parseQuery, type TraceQuery } from '../../domain/trace/query.js';
import { clientLeft, respondJson, type Routes } from '../../../adapters/http/router.js';
/** Each reads all rules of the kernel, or compiles all that are desired. */
const AT_A_TIME = 2;

/**
 * Our own: `/debug/trace?from=SOURCE&to=ADDRESS:PORT/PROTOCOL` shows what becomes of new connections, by the rules as they should be,
 * or with `kernel=true` as they are. What cannot be answered is `{"error": …}`: 400 for a query that cannot be read, otherwise 500. Two are
 * followed at a time, and none for a client that has left.
 */
export function traceRoutes(
  trace: (query: TraceQuery, rules: TracedRules, signal: AbortSignal) => Promise<TraceAnswer>,
): Routes {
  const semaphore = new Semaphore(AT_A_TIME);
  return {
    '/debug/trace': async ({ parameters }, response) => {
      const left = clientLeft(response);
      try {
        const query = parseQuery(parameters.get('from') ?? '', parameters.get('to') ?? '');
        const rules = parameters.get('kernel') === 'true' ? 'actual' : 'desired';
        respondJson(response, 200, await semaphore.run(left, () => trace(query, rules, left)));
      } catch (error) {
        if (left.aborted) return;
        const status = error instanceof InvalidQueryError ? 400 : 500;
        respondJson(response, status, { error: errorMessage(error) });
      }
    },
  };
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
