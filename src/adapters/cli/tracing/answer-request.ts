import type { TraceAnswer } from '../../../application/trace/answer.js';
import { CannotTraceError } from '../../../application/trace/trace-packets.js';
import { traceLines } from '../texts/trace.js';
import { placeOf } from '../../../application/trace/named-destination.js';
import { parseAddress } from '../../../domain/net/address.js';
import type { TraceQuery } from '../../../domain/trace/query.js';
import type { NamedQuery } from '../arguments/trace.js';
import type { RequestFor } from '../command-line/subcommands.js';
import { formatted, jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';
import { answerLines } from './answer-lines.js';
import type { PlacesOf, Tracing } from './tracing.js';

/** Prints what becomes of packets. 1 if a query of several could not be answered. */
export async function answerRequest(
  request: RequestFor<'trace'>,
  tracing: Tracing,
  placesOf: PlacesOf,
): Promise<number> {
  if ('queries' in request) return answerLines(request.queries, tracing);
  try {
    const query = 'query' in request ? request.query : await queryOf(request.named, placesOf);
    await print(printed(await tracing(query), request));
    return 0;
  } catch (error) {
    // Programs get one JSON object, whatever comes of it.
    if (!(error instanceof CannotTraceError) || request.output !== 'json') throw error;
    await print(jsonLine({ error: error.message }));
    return 1;
  }
}

/** To the cluster IP of the Service that is named. @throws CannotTraceError if it is not clear which that is */
async function queryOf({ from, to: name }: NamedQuery, placesOf: PlacesOf): Promise<TraceQuery> {
  const family = from.kind === 'node' ? undefined : from.address?.family;
  const { address, number, protocol } = placeOf(name, await placesOf(name), family);
  return { from, to: parseAddress(address)!, port: number, protocol };
}

/** JSON as one line, as for the queries of a file. */
function printed(answer: TraceAnswer, { output, rules }: RequestFor<'trace'>): string {
  if (output === 'json') return jsonLine(answer);
  return formatted(output, answer, (value, isWide) => traceLines(value, rules, isWide));
}
