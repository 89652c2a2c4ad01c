import { traceAnswer } from '../../../application/trace/answer.js';
import { CannotTraceError, type TracedRules } from '../../../application/trace/trace-packets.js';
import { destinationText, sourceText } from '../../../domain/trace/query.js';
import type { RunningProxy } from '../asking/running-proxy.js';
import type { Tracing } from './tracing.js';

/** The proxy that runs on this node answers. Rejects with CannotAskError if none does. */
export function askProxy(proxy: RunningProxy, rules: TracedRules): Tracing {
  return async (query) => {
    const parameters = new URLSearchParams({ from: sourceText(query.from), to: destinationText(query) });
    if (rules === 'actual') parameters.set('kernel', 'true');
    const answer = await proxy.ask(`/debug/trace?${parameters}`, traceAnswer);
    if ('error' in answer) throw new CannotTraceError(answer.error);
    return answer;
  };
}
