/** Requests to the API server, their rate limit, and what is reported about them for metrics. */

import { request as httpRequest, type ClientRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { cutText } from '../../../application/cut-text.js';
import { delay } from '../../../application/retries.js';
import type { Clock } from '../../../application/ports/clock.js';
import { LARGEST_RESPONSE } from '../../http/largest-response.js';
import type { Connection } from '../connection/connection.js';
import { Credentials, type Access } from '../connection/credentials.js';
import { JSON_TYPE, PREFERRED_TYPES } from '../encoding/media-types.js';
import { ApiProtocolError } from './api-error.js';
import { defaultApiTimeouts, HttpExchange, type ApiTimeouts, type ResponseBody } from './http-exchange.js';

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  /** JSON. */
  readonly body?: string;
  /** Media types of the response, `application/json` by default. */
  readonly accept?: string;
  /** The response may be large: it may come compressed. */
  readonly large?: boolean;
  /** `application/json` by default. */
  readonly contentType?: 'application/json' | 'application/merge-patch+json';
  /** Continues an earlier request, such as the next page of a list, and needs no token of its own. */
  readonly continued?: boolean;
  readonly signal?: AbortSignal;
}

/** A response with a status of 2xx. */
interface ApiResponse {
  /** "" if it is missing. */
  readonly contentType: string;
  readonly body: ResponseBody;
}

/** One request to the API server and its outcome. */
export interface AnsweredRequest {
  /** The status code, or `<error>` without a response. */
  readonly code: string;
  readonly method: string;
  /** `10.96.0.1:443`. */
  readonly host: string;
}

/** Counts requests to the API server, for metrics. Calls are cheap and never throw. */
export interface ApiObserver {
  /** @param seconds until the response began, or the request failed */
  answered(request: AnsweredRequest, seconds: number): void;
  /** The rate limit delayed a request by this time. */
  waited(request: Omit<AnsweredRequest, 'code'>, seconds: number): void;
  /** A connection is opened to this address: that of the API server, or of a proxy on the way. */
  connecting?(address: string, port: number): void;
}

interface ApiClientOptions {
  readonly timeouts?: Partial<ApiTimeouts>;
  /** Media types in which lists and watches are requested; protobuf, else JSON, by default. */
  readonly accept?: string;
  /** Without one there is no limit. */
  readonly rate?: RequestRate;
  readonly observer?: ApiObserver;
}

const SILENT_OBSERVER: ApiObserver = { answered() {}, waited() {} };

const NEVER = new AbortController().signal;

/**
 * Sends HTTP requests to the API server: one request, one response, no retries. The connection and the beginning of the
 * response have time limits. Nothing is loaded or opened before the first request. What is sent is JSON.
 */
export class ApiClient {
  /** Media types in which lists and watches are requested. */
  readonly accept: string;
  private readonly credentials: Credentials;
  private readonly timeouts: ApiTimeouts;
  private readonly rate: RequestRate | undefined;
  private readonly observer: ApiObserver;

  constructor(
    connection: Connection,
    private readonly clock: Clock,
    { timeouts, accept = PREFERRED_TYPES, rate, observer = SILENT_OBSERVER }: ApiClientOptions = {},
  ) {
    this.timeouts = { ...defaultApiTimeouts, ...timeouts };
    this.accept = accept;
    this.rate = rate;
    this.observer = observer;
    this.credentials = new Credentials(connection, clock, this.timeouts.credentials, this.timeouts.plugin);
  }

  /** Loads the configuration, without the credentials, and returns the server's URL. Throws KubeconfigError. Sends nothing. */
  load(): Promise<URL> {
    return this.credentials.server();
  }

  /** Connection data for other kinds of requests, such as upgrades. Throws KubeconfigError and CredentialsError. Sends nothing. */
  access(): Promise<Access> {
    return this.credentials.current();
  }

  /**
   * Sends a request. Throws ApiError when the server rejects it, ApiConnectionError when the server is unreachable,
   * CredentialsError or KubeconfigError when there are no credentials, and the signal's reason when it is aborted.
   */
  async open(request: ApiRequest): Promise<ApiResponse> {
    const requestedAt = this.clock.now();
    if (!request.continued) await this.rate?.take(request.signal ?? NEVER);
    request.signal?.throwIfAborted();
    const waited = (this.clock.now() - requestedAt) / 1000;
    const access = await unlessAborted(this.credentials.current(), request.signal ?? NEVER);
    const { server, proxy, options } = access;
    const method = request.method ?? 'GET';
    const url = urlOf(request, server);
    if (this.rate && !request.continued) this.observer.waited({ method, host: url.host }, waited);
    const name = `${method} ${cutText(String(url))}${proxy ? ` through the proxy ${proxy}` : ''}`;
    const { observer } = this;
    const exchange = new HttpExchange(name, this.timeouts, this.clock, (address, port) =>
      observer.connecting?.(address, port),
    );
    // The attempt of an address that needs no lookup is over before the socket can be watched.
    if (!proxy && isIP(bareHost(url)) !== 0) observer.connecting?.(bareHost(url), portOf(url));
    const sentAt = this.clock.now();
    const observe = (code: string): void =>
      this.observer.answered({ code, method, host: url.host }, (this.clock.now() - sentAt) / 1000);
    const sent = createRequest(request, url, options);
    const response = await exchange
      .send(sent, request.body, request.signal ?? NEVER)
      .catch((error: unknown) => {
        if (!request.signal?.aborted) observe('<error>');
        // The server may have a new certificate, from an authority that the files now contain.
        this.credentials.readAgain();
        throw error;
      });
    const status = response.statusCode ?? 0;
    observe(String(status));
    if (status >= 200 && status < 300) {
      const contentType = response.headers['content-type'] ?? '';
      return { contentType, body: exchange.body(response) };
    }
    if (status === 401) this.credentials.renew(access);
    throw await exchange.failure(response);
  }

  /** Milliseconds without data after which a response other than a watch is given up. */
  get silence(): number {
    return this.timeouts.silence;
  }

  /**
   * Sends a request and decodes the whole response. For small ones. Throws as `open`, and ApiProtocolError when the response is
   * too large, or not JSON.
   */
  async json(request: ApiRequest): Promise<unknown> {
    const text = await this.text(request);
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new ApiProtocolError(nameOf(request), 'the response is not JSON', { cause });
    }
  }

  /** Sends a request and returns the whole response. Throws as `open`, and ApiProtocolError when the response is too large. */
  async text(request: ApiRequest): Promise<string> {
    const { body } = await this.open(request);
    const pieces: Buffer[] = [];
    let size = 0;
    await body.read(this.silence, (piece) => {
      size += piece.length;
      if (size > LARGEST_RESPONSE)
        throw new ApiProtocolError(nameOf(request), `the response has more than ${LARGEST_RESPONSE} bytes`);
      pieces.push(piece);
    });
    return Buffer.concat(pieces).toString('utf8');
  }

  /** Closes idle connections and kills running exec plugins. Usable again afterwards. */
  close(): void {
    this.credentials.close();
  }
}

/**
 * Limits the rate of requests: a burst of `burst`, and `qps` per second on average (clientConnection.qps and burst). A token
 * bucket refills steadily up to `burst`. Waiting requests put it into debt, so they proceed in order. A negative `qps` means
 * no limit, as in kube-proxy.
 */
export class RequestRate {
  private tokens: number;
  private filledAt: number;

  constructor(
    private readonly qps: number,
    private readonly burst: number,
    private readonly clock: Clock,
  ) {
    this.tokens = this.capacity;
    this.filledAt = clock.now();
  }

  private get capacity(): number {
    return Math.max(1, this.burst);
  }

  /** Resolves when the request may be sent, or the signal is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    if (this.qps <= 0) return;
    const now = this.clock.now();
    // A clock that was set back must not drain the bucket.
    const seconds = Math.max(0, now - this.filledAt) / 1000;
    this.tokens = Math.min(this.capacity, this.tokens + seconds * this.qps) - 1;
    this.filledAt = now;
    if (this.tokens < 0) await delay(this.clock, (-this.tokens / this.qps) * 1000, signal);
  }
}

/** Without the brackets of IPv6. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port);
}

function nameOf({ method = 'GET', path }: ApiRequest): string {
  return `${method} ${path}`;
}

function urlOf({ path, query = {} }: ApiRequest, server: URL): URL {
  const url = new URL(server.pathname.replace(/\/$/, '') + path, server);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function createRequest(
  { method = 'GET', accept = JSON_TYPE, large = false, contentType = JSON_TYPE, body, signal }: ApiRequest,
  url: URL,
  options: Access['options'],
): ClientRequest {
  const create = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return create(url, {
    ...options,
    method,
    headers: {
      ...options.headers,
      accept,
      ...(large && { 'accept-encoding': 'gzip' }),
      'user-agent': 'kube-proxy-ts',
      ...(body !== undefined && {
        'content-type': contentType,
        'content-length': Buffer.byteLength(body),
      }),
    },
    ...(signal && { signal }),
  });
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
