import { createServer, type RequestListener, type Server } from 'node:http';
import type { ListenOptions } from 'node:net';

/** A server that listens. Rejects with the system's error when it cannot. */
export function openServer(
  handler: RequestListener,
  where: Pick<ListenOptions, 'host' | 'port' | 'ipv6Only'>,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(handler);
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

/** Stops listening and ends all connections. Resolves when the port is free. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
