import { createServer, type RequestListener, type Server } from 'node:http';
import type { ListenOptions } from 'node:net';
import type { Logger } from '../../application/ports/logger.js';

/** Limits for the clients of one server, so that they cannot use up file descriptors. Times in milliseconds. */
export interface ConnectionLimits {
  /** Further connections are closed at once. */
  readonly connections: number;
  /** Time for a client to send a whole request; slower ones get a 408. */
  readonly request: number;
  /** How often that limit is checked. */
  readonly check: number;
}

const DEFAULT_LIMITS: ConnectionLimits = { connections: 256, request: 10_000, check: 2_500 };

/** Opens a server. Rejects with the system's error if it cannot listen. */
export function openServer(
  handler: RequestListener,
  where: Pick<ListenOptions, 'host' | 'port' | 'ipv6Only'>,
  { connections, request, check }: ConnectionLimits = DEFAULT_LIMITS,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const times = { headersTimeout: request, requestTimeout: request, connectionsCheckingInterval: check };
    const server = createServer(times, handler);
    server.maxConnections = connections;
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

/** Logs connections that are closed because there are too many. */
export function reportDropped(server: Server, facts: object, logger: Logger): void {
  server.on('drop', () =>
    logger.warn({ ...facts, most: server.maxConnections }, 'too many connections; closing new ones'),
  );
}

/** Stops listening and ends all connections. Resolves when the port is free. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
