import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { closeServer, openServer } from '../../../src/adapters/http/open-server.js';
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
    return served;
  }

  /** `ip:port`. */
  get address(): string {
    return `127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  /** Redirects are not followed. Each time on a connection of its own: the server closes one that rests, and a slow client asks on it. */
  get(path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
    const alone = new Headers(headers);
    alone.set('connection', 'close');
    return fetch(`http://${this.address}${path}`, { redirect: 'manual', headers: alone, ...init });
  }

  async text(path: string, init: RequestInit = {}): Promise<string> {
    return (await this.get(path, init)).text();
  }

  async stop(): Promise<void> {
    if (this.server) await closeServer(this.server);
  }
}
