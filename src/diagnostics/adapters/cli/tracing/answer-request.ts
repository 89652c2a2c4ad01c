import type { TraceAnswer } from '../../../application/trace/answer.js';
import { CannotTraceError } from '../../../application/trace/trace-packets.js';
import { traceLines } from '../texts/trace.js';
import { podAddress, type KnownPod, type NamedPod } from '../../../application/trace/named-pod.js';
import { placeOf, type NamedDestination } from '../../../application/trace/named-destination.js';
import { parseAddress } from '../../../../domain/net/address.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import type { TraceQuery, TraceSource } from '../../../domain/trace/query.js';
import type { NamedQuery } from '../arguments/trace.js';
import type { RequestFor } from '../command-line/subcommands.js';
import { formatted, jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';
import { answerLines } from './answer-lines.js';
import type { PlacesOf, PodsOf, Tracing } from './tracing.js';

/** Prints what becomes of packets. 1 if a query of several could not be answered. */
export async function answerRequest(
  request: RequestFor<'trace'>,
  tracing: Tracing,
  placesOf: PlacesOf,
  podsOf: PodsOf,
): Promise<number> {
  if ('queries' in request) return answerLines(request.queries, tracing);
  try {
    const query = 'query' in request ? request.query : await queryOf(request.named, placesOf, podsOf);
    await print(printed(await tracing(query), request));
    return 0;
  } catch (error) {
    // Programs get one JSON object, whatever comes of it.
    if (!(error instanceof CannotTraceError) || request.output !== 'json') throw error;
    await print(jsonLine({ error: error.message }));
    return 1;
  }
}

/**
 * From the address of the pod, to the cluster IP of the Service, that are named.
 * @throws CannotTraceError if it is not clear which those are
 */
async function queryOf({ from, to }: NamedQuery, placesOf: PlacesOf, podsOf: PodsOf): Promise<TraceQuery> {
  const pods = 'pod' in from ? await podsOf(from) : [];
  const place = 'service' in to ? await placeFor(to, placesOf, familyOf(from, pods)) : to;
  const sender: TraceSource =
    'pod' in from ? { kind: 'pod', address: podAddress(from, pods, place.to.family) } : from;
  return { ...place, from: sender };
}

async function placeFor(
  name: NamedDestination,
  placesOf: PlacesOf,
  family: IpFamily | undefined,
): Promise<Omit<TraceQuery, 'from'>> {
  const { address, number, protocol } = placeOf(name, await placesOf(name), family);
  return { to: parseAddress(address)!, port: number, protocol };
}

/** Of whoever sends; undefined if it has addresses of both. @throws CannotTraceError */
function familyOf(from: TraceSource | NamedPod, pods: readonly KnownPod[]): IpFamily | undefined {
  if (!('pod' in from)) return from.kind === 'node' ? undefined : from.address?.family;
  const { family } = podAddress(from, pods);
  return pods[0]!.ips.every((ip) => parseAddress(ip)?.family === family) ? family : undefined;
}

/** JSON as one line, as for the queries of a file. */
function printed(answer: TraceAnswer, { output, rules }: RequestFor<'trace'>): string {
  if (output === 'json') return jsonLine(answer);
  return formatted(output, answer, (value, isWide) => traceLines(value, rules, isWide));
}
