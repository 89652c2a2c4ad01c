import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ConntrackUnavailableError } from '../../../application/ports/node/conntrack.js';
import { TooManyWatchersError, type TrafficWatch } from '../../../application/traffic/traffic-watchers.js';
import {
  trafficBetween,
  TRAFFIC_ORDERS,
  type TrafficQuery,
  type TrafficReport,
} from '../../domain/traffic.js';
import { clientLeft, respond, TEXT_TYPE, type Query, type Routes } from '../../../adapters/http/router.js';
const LINES_TYPE = 'application/x-ndjson';
const SECOND = 1_000;
/** In seconds. */
const SHORTEST = 0.1;
const LONGEST = 60;

type Watch = TrafficWatch<TrafficQuery, TrafficReport>;

/** Counts connections while a client watches. */
interface Watchers {
  /** @throws TooManyWatchersError, ConntrackUnavailableError */
  watch(makeReport: typeof trafficBetween): Watch;
}

/** The parameters of a request for traffic. */
interface TrafficRequest {
  readonly query: TrafficQuery;
  readonly intervalMilliseconds: number;
  readonly once: boolean;
}

/**
 * Our own: `/debug/traffic` streams the connections of Services, one JSON object a line (`TrafficReport`) for each interval,
 * until the client leaves. Parameters: `interval` in seconds (1), `once` for one report of an interval, after the counting is
 * complete; `namespace`, `service` (repeatable), `sort`, `limit`.
 */
export function trafficRoutes(watchers: Watchers): Routes {
  return {
    '/debug/traffic': async (query, response) => {
      const request = readRequest(query);
      if (typeof request === 'string') return respond(response, 400, TEXT_TYPE, `${request}\n`);
      // Reports without a body are not sent.
      if (query.method === 'HEAD') return respond(response, 200, LINES_TYPE, '');
      const watch = tryWatch(watchers);
      if (watch instanceof Error) return respond(response, 503, TEXT_TYPE, `${watch.message}\n`);
      try {
        await stream(watch, request, response);
      } finally {
        watch.leave();
      }
    },
  };
}

function tryWatch(watchers: Watchers): Watch | Error {
  try {
    return watchers.watch(trafficBetween);
  } catch (error) {
    if (error instanceof TooManyWatchersError || error instanceof ConntrackUnavailableError) return error;
    throw error;
  }
}

async function stream(watch: Watch, request: TrafficRequest, response: ServerResponse): Promise<void> {
  const signal = clientLeft(response);
  response.writeHead(200, {
    'Content-Type': LINES_TYPE,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.flushHeaders();
  try {
    if (request.once) await watch.complete(signal);
    do {
      const report = await watch.next(request.query, request.intervalMilliseconds, signal);
      // Nothing piles up for a client that does not read.
      if (!response.write(`${JSON.stringify(report)}\n`)) await once(response, 'drain', { signal });
    } while (!request.once);
    response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns what is wrong with it, if something is. */
function readRequest({ parameters }: Query): TrafficRequest | string {
  const seconds = Number(parameters.get('interval') ?? 1);
  if (!(seconds >= SHORTEST && seconds <= LONGEST))
    return `interval is a number of seconds from ${SHORTEST} to ${LONGEST}`;
  const limit = Number(parameters.get('limit') ?? Infinity);
  if (!(limit >= 0)) return 'limit is a number of service ports';
  const order = parameters.get('sort') ?? 'open';
  const sort = TRAFFIC_ORDERS.find((known) => known === order);
  if (!sort) return `sort is one of ${TRAFFIC_ORDERS.join(', ')}`;
  const namespace = parameters.get('namespace');
  return {
    query: { ...(namespace !== null && { namespace }), services: parameters.getAll('service'), sort, limit },
    intervalMilliseconds: seconds * SECOND,
    once: !['0', 'false', null].includes(parameters.get('once')),
  };
}
