/** Opens HTTP servers. */

import { LastingProblem } from '../../application/message-rate.js';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { ListenOptions as SocketOptions } from 'node:net';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { NamedError } from '../../domain/model/named-error.js';
import { hostPort } from '../../domain/net/address.js';
import { FloodGuard } from '../process/flood-guard.js';
import { ConnectionGuard, type ReportCrowded, type ConnectionLimits } from './connection-guard.js';

/** Where to listen. `0.0.0.0` and `::` both mean every address of both families, as they do for kube-proxy. */
interface BindAddress {
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

/** The common requirements of all servers. */
export interface ListenOptions {
  readonly address: BindAddress;
  /** Whether the first failure to listen makes `start` reject (`bindAddressHardFail`). */
  readonly hardFail: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
}

interface HttpListenerOptions extends ListenOptions {
  /** For log lines: `healthz`, `metrics`. */
  readonly name: string;
  readonly handler: RequestListener;
  readonly limits?: ClientLimits;
}

const RETRY_MILLISECONDS = 5000;

/**
 * A plain HTTP server that keeps trying to listen (docs/internals/spec/server.md §8.2): when listening fails, or the socket fails later,
 * it logs that and retries every 5 s, until `stop`.
 */
export class HttpListener {
  private server: Server | undefined;
  private retry: Timer | undefined;
  private readonly problem = new LastingProblem();
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
    this.problem.end();
    server.on('error', (cause) => {
      server.close();
      this.failed(new BindError(name, address, cause));
    });
    logger.debug({ server: name, host, port: this.port }, 'listening');
  }

  private failed(error: BindError): void {
    this.server = undefined;
    if (this.stopped) return;
    this.options.logger[this.problem.level(error, 'error')](
      { error: error.message },
      'server cannot listen; retrying in 5 s',
    );
    this.retry = this.options.clock.after(RETRY_MILLISECONDS, () => {
      if (!this.stopped) void this.listen().catch((again: BindError) => this.failed(again));
    });
  }
}

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
  where: Pick<SocketOptions, 'host' | 'port' | 'ipv6Only'>,
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
