import type { TraceAnswer } from '../../../application/trace/answer.js';
import { CannotTraceError } from '../../../application/trace/trace-packets.js';
import { traceLines } from '../texts/trace.js';
import type { RequestFor } from '../arguments/subcommands.js';
import { formatted, jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';
import { answerLines } from './answer-lines.js';
import type { Tracing } from './tracing.js';

/** Prints what becomes of packets. 1 if a query of several could not be answered. */
export async function answerRequest(request: RequestFor<'trace'>, tracing: Tracing): Promise<number> {
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
function printed(answer: TraceAnswer, { output, rules }: RequestFor<'trace'>): string {
  if (output === 'json') return jsonLine(answer);
  return formatted(output, answer, (value, isWide) => traceLines(value, rules, isWide));
}
