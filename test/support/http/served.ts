import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { closeServer, openServer } from '../../../src/adapters/http/http-listener.js';
import { route, type Routes } from '../../../src/adapters/http/router.js';

/** Routes behind a real server. */
export class Served {
  readonly logger = new MemoryLogger();
  private server: Server | undefined;

  static async start(routes: Routes): Promise<Served> {
    const served = new Served();
    served.server = await openServer(
      route(routes, served.logger),
      { host: '127.0.0.1', port: 0 },
      () => undefined,
    );
    // On a busy machine a client may ask on a connection in the moment in which it has rested for too long.
    served.server.keepAliveTimeout = 0;
    return served;
  }

  /** `ip:port`. */
  get address(): string {
    return `127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  /** Redirects are not followed. */
  get(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://${this.address}${path}`, { redirect: 'manual', ...init });
  }

  async text(path: string, init: RequestInit = {}): Promise<string> {
    return (await this.get(path, init)).text();
  }

  async stop(): Promise<void> {
    if (this.server) await closeServer(this.server);
  }
}
