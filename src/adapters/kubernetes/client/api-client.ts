import { isIP } from 'node:net';
import { request as httpRequest, type ClientRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { LARGEST_RESPONSE } from '../../http/largest-response.js';
import { cutText } from '../../../application/cut-text.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { Connection } from '../connection/connection.js';
import { Credentials, type Access } from '../connection/credentials.js';
import { JSON_TYPE, PREFERRED_TYPES } from '../encoding/media-types.js';
import { ApiProtocolError } from './api-error.js';
import { SILENT_OBSERVER, type ApiObserver } from './api-observer.js';
import { defaultApiTimeouts, type ApiTimeouts } from './api-timeouts.js';
import { HttpExchange } from './http-exchange.js';
import type { RequestRate } from './request-rate.js';
import type { ResponseBody } from './response-body.js';

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
export interface ApiResponse {
  /** "" if it is missing. */
  readonly contentType: string;
  readonly body: ResponseBody;
}

export interface ApiClientOptions {
  readonly timeouts?: Partial<ApiTimeouts>;
  /** Media types in which lists and watches are requested; protobuf, else JSON, by default. */
  readonly accept?: string;
  /** Without one there is no limit. */
  readonly rate?: RequestRate;
  readonly observer?: ApiObserver;
}

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

  /** What other kinds of requests, such as upgrades, need to reach the server. Throws KubeconfigError and CredentialsError. Sends nothing. */
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
