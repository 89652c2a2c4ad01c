import type { Logger } from '../../application/ports/logger.js';
import type { TraceAnswer } from '../../application/trace/answer.js';
import { CannotTraceError } from '../../application/trace/trace-packets.js';
import { traceText } from '../../application/trace/trace-text.js';
import type { Asked } from '../configuration/command-line.js';
import type { TraceRequest } from '../configuration/subcommands/trace.js';
import { RunningProxy } from './asking/running-proxy.js';
import { formatted, jsonLine } from './output/formatted.js';
import { print } from './output/print.js';
import { answerLines } from './tracing/answer-lines.js';
import { askProxy } from './tracing/ask-proxy.js';
import type { Tracing } from './tracing/tracing.js';
import { traceManifests } from './tracing/with-manifests.js';

/**
 * Prints what becomes of packets. With manifests they are followed here, otherwise by the proxy running on this node. 1 if a query
 * of several could not be answered.
 */
export function trace(asked: Asked<'trace'>, logger: Logger): Promise<number> {
  const { request, manifests, configuration } = asked;
  const answer = (tracing: Tracing): Promise<number> => answerRequest(request, tracing);
  if (manifests.length > 0) return traceManifests(asked, logger, answer);
  return answer(askProxy(RunningProxy.at(configuration.metricsBindAddress), request.rules));
}

async function answerRequest(request: TraceRequest, tracing: Tracing): Promise<number> {
  if ('queries' in request) return answerLines(request.queries, tracing);
  try {
    await print(printed(await tracing(request.query), request));
    return 0;
  } catch (error) {
    // Programs get one JSON object, whatever comes of it.
    if (!(error instanceof CannotTraceError) || request.output !== 'json') throw error;
    await print(jsonLine({ error: error.message }));
    return 1;
  }
}

/** JSON as one line, as for the queries of a file. */
function printed(answer: TraceAnswer, { output, rules }: TraceRequest): string {
  if (output === 'json') return jsonLine(answer);
  return formatted(output, answer, (value, isWide) => traceText(value, rules, isWide));
}
