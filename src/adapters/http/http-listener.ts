import type { RequestListener, Server } from 'node:http';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { hostPort } from '../../domain/net/address.js';
import type { ReportCrowded } from './connection-guard.js';
import { closeServer, crowdedLog, openServer, type ClientLimits } from './open-server.js';
import { NamedError } from '../../domain/model/named-error.js';

/** Where to listen. `0.0.0.0` and `::` both mean every address of both families, as they do for kube-proxy. */
export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

/** A server cannot listen on its address. */
export class BindError extends NamedError {
  constructor(
    /** Such as `healthz`. */
    readonly server: string,
    readonly address: BindAddress,
    override readonly cause: Error,
  ) {
    super(
      `${server} server failed: cannot listen on ${hostPort(address.host, address.port)}: ${cause.message}; ` +
        'free the port or configure another bind address',
    );
  }
}

/** What every server needs. */
export interface ListenOptions {
  readonly address: BindAddress;
  /** Whether the first failure to listen makes `start` reject (`bindAddressHardFail`). */
  readonly hardFail: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface HttpListenerOptions extends ListenOptions {
  /** For log lines: `healthz`, `metrics`. */
  readonly name: string;
  readonly handler: RequestListener;
  readonly limits?: ClientLimits;
}

const RETRY_MILLISECONDS = 5000;

/**
 * A plain HTTP server that keeps trying to listen (docs/spec/server.md §8.2): when listening fails, or the socket fails later,
 * it logs that and retries every 5 s, until `stop`.
 */
export class HttpListener {
  private server: Server | undefined;
  private retry: Timer | undefined;
  private opening: Promise<void> = Promise.resolve();
  private stopped = false;
  private readonly report: ReportCrowded;

  constructor(private readonly options: HttpListenerOptions) {
    this.report = crowdedLog(options.logger, options.clock)({ server: options.name });
  }

  /** Resolves after the first attempt. Rejects with BindError if that failed and `hardFail` is set. */
  async start(): Promise<void> {
    try {
      await this.listen();
    } catch (error) {
      if (this.options.hardFail) {
        await this.stop();
        throw error;
      }
      this.failed(error as BindError);
    }
  }

  /** Ends all connections. Resolves when the port is free. Idempotent. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.retry?.cancel();
    await this.opening.catch(() => {});
    const server = this.server;
    this.server = undefined;
    if (server) await closeServer(server);
  }

  /** The actual port, once listening: useful when port 0 was requested. */
  get port(): number | undefined {
    const address = this.server?.address();
    return typeof address === 'object' && address !== null ? address.port : undefined;
  }

  private listen(): Promise<void> {
    return (this.opening = this.open());
  }

  private async open(): Promise<void> {
    const { name, address, handler, limits, logger } = this.options;
    const { host, port } = address;
    const wildcard = host === '0.0.0.0' || host === '::';
    // Without a host, Node opens one socket for both families, or for IPv4 if there is no IPv6.
    const where = { port, ...(!wildcard && { host }) };
    const server = await openServer(handler, where, this.report, limits).catch((cause: Error) => {
      throw new BindError(name, address, cause);
    });
    if (this.stopped) return closeServer(server);
    this.server = server;
    server.on('error', (cause) => {
      server.close();
      this.failed(new BindError(name, address, cause));
    });
    logger.debug({ server: name, host, port: this.port }, 'listening');
  }

  private failed(error: BindError): void {
    this.server = undefined;
    if (this.stopped) return;
    this.options.logger.error({ error: error.message }, 'server cannot listen; retrying in 5 s');
    this.retry = this.options.clock.after(RETRY_MILLISECONDS, () => {
      if (!this.stopped) void this.listen().catch((again: BindError) => this.failed(again));
    });
  }
}
