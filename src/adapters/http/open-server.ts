import { createServer, type RequestListener, type Server } from 'node:http';
import type { ListenOptions } from 'node:net';
import type { Logger } from '../../application/ports/logger.js';

/** What clients of one server may take, so that nothing is left waiting for descriptors. Times in milliseconds. */
export interface ConnectionLimits {
  /** Further connections are closed at once. */
  readonly connections: number;
  /** From the beginning of a connection or request until the whole request is there; those that take longer are answered 408. */
  readonly request: number;
  /** How often that is looked at. */
  readonly check: number;
}

const USUAL_LIMITS: ConnectionLimits = { connections: 256, request: 10_000, check: 2_500 };

/** A server that listens. Rejects with the system's error when it cannot. */
export function openServer(
  handler: RequestListener,
  where: Pick<ListenOptions, 'host' | 'port' | 'ipv6Only'>,
  { connections, request, check }: ConnectionLimits = USUAL_LIMITS,
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

/** Tells of connections that are closed because there are too many. */
export function reportDropped(server: Server, facts: object, logger: Logger): void {
  server.on('drop', () =>
    logger.warn({ ...facts, most: server.maxConnections }, 'too many connections, closing further ones'),
  );
}

/** Stops listening and ends all connections. Resolves when the port is free. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
