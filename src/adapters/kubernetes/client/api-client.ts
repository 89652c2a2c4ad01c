import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../application/ports/clock.js';
import { ApiConnectionError, ApiError, ApiSilenceError } from './api-error.js';
import { SILENT_OBSERVER, type ApiObserver } from './api-observer.js';
import type { Connection } from '../connection/connection.js';
import { Credentials } from '../connection/credentials.js';
import type { RequestRate } from './request-rate.js';
import { defaultApiTimeouts, type ApiTimeouts } from './api-timeouts.js';

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** `application/json` by default. */
  readonly contentType?: 'application/merge-patch+json';
  /** Continues an earlier request, such as the next page of a list, and needs no token of its own. */
  readonly continued?: boolean;
  readonly signal?: AbortSignal;
}

/** A response with a status of 2xx. */
export interface ApiResponse {
  /**
   * The body as it arrives. Throws ApiConnectionError when the connection breaks, ApiSilenceError after `silence`
   * milliseconds without data. Leaving the loop early closes the connection.
   */
  chunks(silence: number): AsyncGenerator<Buffer>;
}

export interface ApiClientOptions {
  readonly timeouts?: Partial<ApiTimeouts>;
  /** Without one there is no limit. */
  readonly rate?: RequestRate;
  readonly observer?: ApiObserver;
}

const MAXIMUM_ERROR_BODY = 64 * 1024;
const NEVER = new AbortController().signal;

/**
 * Sends HTTP requests to the API server: one request, one response, no retries. The connection and the beginning of the
 * response have time limits. Nothing is loaded or opened before the first request. Objects are JSON both ways: every API
 * server supports it, and Node parses it fastest.
 */
export class ApiClient {
  private readonly credentials: Credentials;
  private readonly timeouts: ApiTimeouts;
  private readonly rate: RequestRate | undefined;
  private readonly observer: ApiObserver;

  constructor(
    connection: Connection,
    private readonly clock: Clock,
    { timeouts, rate, observer = SILENT_OBSERVER }: ApiClientOptions = {},
  ) {
    this.timeouts = { ...defaultApiTimeouts, ...timeouts };
    this.rate = rate;
    this.observer = observer;
    this.credentials = new Credentials(connection, clock, this.timeouts.credentials, this.timeouts.plugin);
  }

  /** Loads the configuration and returns the server's URL. Throws KubeconfigError. Sends nothing. */
  async load(): Promise<URL> {
    return (await this.credentials.current()).server;
  }

  /**
   * Sends a request. Throws ApiError when the server rejects it, ApiConnectionError when the server is unreachable,
   * KubeconfigError when the credentials are unreadable, and the signal's reason when it is aborted.
   */
  async open(request: ApiRequest): Promise<ApiResponse> {
    const requestedAt = this.clock.now();
    if (!request.continued) await this.rate?.take(request.signal ?? NEVER);
    request.signal?.throwIfAborted();
    const waited = (this.clock.now() - requestedAt) / 1000;
    const access = this.credentials.current();
    const { server, proxy, options } = await unlessAborted(access, request.signal ?? NEVER);
    const method = request.method ?? 'GET';
    const url = new URL(server.pathname.replace(/\/$/, '') + request.path, server);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    if (this.rate && !request.continued) this.observer.waited({ method, host: url.host }, waited);
    const name = `${method} ${url}${proxy ? ` through the proxy ${proxy}` : ''}`;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const sent = (url.protocol === 'http:' ? httpRequest : httpsRequest)(url, {
      ...options,
      method,
      headers: {
        ...options.headers,
        accept: 'application/json',
        'user-agent': 'kube-proxy-ts',
        ...(body === undefined
          ? {}
          : {
              'content-type': request.contentType ?? 'application/json',
              'content-length': Buffer.byteLength(body),
            }),
      },
      ...(request.signal ? { signal: request.signal } : {}),
    });
    const sentAt = this.clock.now();
    const observe = (code: string): void =>
      this.observer.answered({ code, method, host: url.host }, (this.clock.now() - sentAt) / 1000);
    const response = await this.awaitResponse(sent, name, body, request.signal ?? NEVER).catch(
      (error: unknown) => {
        if (!request.signal?.aborted) observe('<error>');
        // The server may have a new certificate, from an authority that the files now contain.
        this.credentials.readAgain();
        throw error;
      },
    );
    const status = response.statusCode ?? 0;
    observe(String(status));
    if (status >= 200 && status < 300) {
      return { chunks: (silence) => this.chunks(response, name, silence) };
    }
    if (status === 401) this.credentials.renew();
    throw await this.refusal(response, name);
  }

  /** Milliseconds without data after which a response other than a watch is given up. */
  get silence(): number {
    return this.timeouts.silence;
  }

  /** Sends a request and decodes the whole response. For small ones. */
  async json(request: ApiRequest): Promise<unknown> {
    const response = await this.open(request);
    const chunks: Buffer[] = [];
    for await (const chunk of response.chunks(this.silence)) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  }

  /** Closes idle connections and kills running exec plugins. Usable again afterwards. */
  close(): void {
    this.credentials.close();
  }

  private awaitResponse(
    sent: ClientRequest,
    name: string,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    let timer: Timer | undefined;
    let giveUp: (() => void) | undefined;
    return new Promise<IncomingMessage>((resolve, reject) => {
      // A request that waits for its proxy has no socket yet, and emits nothing when destroyed.
      const limit = (milliseconds: number, what: string): Timer =>
        this.clock.after(milliseconds, () => {
          const error = new ApiConnectionError(name, `${what} within ${milliseconds} ms`);
          sent.destroy(error);
          reject(error);
        });
      giveUp = () => reject(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      timer = limit(this.timeouts.connect, 'no connection');
      const connected = (): void => {
        timer?.cancel();
        timer = limit(this.timeouts.response, 'no response');
      };
      sent.once('socket', (socket: Socket) => {
        // The kernel's probes detect a peer that disappeared.
        socket.setKeepAlive(true, this.timeouts.keepAlive);
        const secure = 'encrypted' in socket;
        if (sent.reusedSocket || (!secure && !socket.connecting)) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      sent.once('response', resolve);
      sent.on('error', (error) => reject(asConnectionError(error, name)));
      sent.end(body);
    }).finally(() => {
      timer?.cancel();
      if (giveUp) signal.removeEventListener('abort', giveUp);
    });
  }

  private async *chunks(response: IncomingMessage, name: string, silence: number): AsyncGenerator<Buffer> {
    let last = this.clock.now();
    let timer: Timer;
    const check = (): void => {
      const left = last + silence - this.clock.now();
      if (left > 0) timer = this.clock.after(left, check);
      else response.destroy(new ApiSilenceError(name, silence));
    };
    timer = this.clock.after(silence, check);
    try {
      for await (const chunk of response) {
        last = this.clock.now();
        yield chunk as Buffer;
      }
    } catch (error) {
      throw asConnectionError(error as Error, name);
    } finally {
      timer.cancel();
      response.destroy();
    }
  }

  private async refusal(response: IncomingMessage, name: string): Promise<ApiError> {
    let text = '';
    try {
      for await (const chunk of this.chunks(response, name, this.timeouts.silence)) {
        text += chunk.toString('utf8');
        if (text.length > MAXIMUM_ERROR_BODY) break;
      }
    } catch {
      // The status code is enough.
    }
    const { reason, message } = parseStatus(text);
    return new ApiError(name, response.statusCode ?? 0, reason, message, retryAfter(response));
  }
}

/** Rejects with the signal's reason if it is aborted first. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason as Error);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    work.finally(() => signal.removeEventListener('abort', aborted)).then(resolve, reject);
  });
}

function parseStatus(text: string): { reason: string; message: string } {
  try {
    const { reason, message } = JSON.parse(text) as { reason?: unknown; message?: unknown };
    return {
      reason: typeof reason === 'string' ? reason : '',
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    return { reason: '', message: text.slice(0, 200).trim() };
  }
}

/** Milliseconds of Retry-After, which API servers send in seconds. */
function retryAfter(response: IncomingMessage): number | undefined {
  const seconds = Number(response.headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function asConnectionError(error: Error, name: string): Error {
  if (error instanceof ApiConnectionError || error.name === 'AbortError') return error;
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message || (error as AggregateError).errors?.map(String).join(', ') || 'failed';
  return new ApiConnectionError(name, code && !message.includes(code) ? `${message} (${code})` : message, {
    cause: error,
  });
}
