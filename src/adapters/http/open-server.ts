import { createServer, type RequestListener, type Server } from 'node:http';
import type { ListenOptions } from 'node:net';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { FloodGuard } from '../process/flood-guard.js';
import { ConnectionGuard, type ConnectionLimits, type ReportCrowded } from './connection-guard.js';

/** Limits for the clients of one server. Times in milliseconds. */
export interface ClientLimits extends ConnectionLimits {
  /** Time for a client to send a whole request; slower ones get a 408. */
  readonly request: number;
  /** How often that limit is checked. */
  readonly check: number;
  /** Without a sign of a client that has an answer to take. */
  readonly silence: number;
}

const DEFAULT_LIMITS: ClientLimits = {
  most: 256,
  perSource: 32,
  ownNode: 64,
  request: 10_000,
  check: 2_500,
  silence: 30_000,
};
/** Connections that wait to be accepted: a burst must not keep out who comes after it. The kernel's own limit is 4096. */
const BACKLOG = 4_096;

/** Opens a server. Rejects with the system's error if it cannot listen. */
export function openServer(
  handler: RequestListener,
  where: Pick<ListenOptions, 'host' | 'port' | 'ipv6Only'>,
  report: ReportCrowded,
  limits: ClientLimits = DEFAULT_LIMITS,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const { request, check, silence } = limits;
    const times = { headersTimeout: request, requestTimeout: request, connectionsCheckingInterval: check };
    const server = createServer(times, handler);
    server.timeout = silence;
    new ConnectionGuard(limits, report).protect(server);
    server.once('error', reject);
    server.listen({ ...where, backlog: BACKLOG }, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

/** Logs sources that have too many connections: one line a minute, however many there are. */
export function crowdedLog(logger: Logger, clock: Clock): (facts: object) => ReportCrowded {
  const guarded = FloodGuard.guard({ logger, clock, burst: 1 });
  return (facts) => (source) =>
    guarded.warn({ ...facts, source }, 'too many connections; ending the longest idle, or the new one');
}

/** Stops listening and ends all connections. Resolves when the port is free. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
