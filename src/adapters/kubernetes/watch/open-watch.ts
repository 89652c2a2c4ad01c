/** Watches of the API server, and their events. */

import { quote } from '../../../domain/decode/fields.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiProtocolError, ApiError, retryAfterOf } from '../client/api-error.js';
import type { ResponseBody } from '../client/http-exchange.js';
import { readStatus, type RawEvent, type WatchDecoder } from '../encoding/encoding.js';
import { encodingOf } from '../encoding/media-types.js';
import type { Resource } from './resources.js';

export interface WatchRequest {
  /** The resourceVersion after which events are sent; with initial events, the least that they must show. */
  readonly from: string;
  /** Begins with an event for each object, up to a bookmark. */
  readonly initialEvents?: boolean;
  /** Milliseconds after which the server ends the watch; whole seconds reach it, at least one. */
  readonly lifetime: number;
  /** Milliseconds without any data after which the watch is given up. */
  readonly silence: number;
  readonly signal: AbortSignal;
  /** Something arrived. */
  readonly onActivity: () => void;
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: object;
}

/** Names the watch in errors. */
export function watchName({ path }: Resource): string {
  return `watch ${path}`;
}

/**
 * Opens a watch; resolves when the server has accepted it. Throws what ApiClient throws. Reading the events throws that too,
 * ApiError for an event ERROR, and ApiProtocolError for anything that is not an event.
 */
export async function openWatch(
  client: ApiClient,
  resource: Resource,
  { from, initialEvents = false, lifetime, silence, signal, onActivity }: WatchRequest,
): Promise<OpenWatch> {
  const { path, labelSelector, fieldSelector } = resource;
  const { contentType, body } = await client.open({
    path,
    query: {
      labelSelector,
      fieldSelector,
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: from || undefined,
      ...(initialEvents && { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
      timeoutSeconds: Math.max(1, Math.ceil(lifetime / 1000)),
    },
    accept: client.accept,
    signal,
  });
  const decoder = encodingOf(contentType).watchDecoder(resource.kind);
  return new OpenWatch(body, decoder, watchName(resource), { silence, onActivity });
}

/** An open watch. Events are passed on as soon as they have arrived. */
export class OpenWatch {
  constructor(
    private readonly body: ResponseBody,
    private readonly decoder: WatchDecoder,
    /** Names the watch in errors. */
    private readonly name: string,
    private readonly request: Pick<WatchRequest, 'silence' | 'onActivity'>,
  ) {}

  /**
   * Passes on the events, in order, up to one for which `take` returns true; the next call continues after it. Resolves with false at
   * the end of the watch. What `take` throws ends it, and so does what the connection or the decoder throws.
   */
  async read(take: (event: WatchEvent) => boolean): Promise<boolean> {
    try {
      if (this.passOn(take)) return true;
      const { silence, onActivity } = this.request;
      return await this.body.read(silence, (piece) => {
        onActivity();
        this.decoder.push(piece);
        return this.passOn(take);
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Idempotent. */
  close(): void {
    this.body.close();
  }

  private passOn(take: (event: WatchEvent) => boolean): boolean {
    for (let event = this.decode(); event; event = this.decode())
      if (take(checkEvent(event, this.name))) return true;
    return false;
  }

  private decode(): RawEvent | undefined {
    try {
      return this.decoder.next();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const problem = `an event is unreadable: ${error.message}`;
      throw new ApiProtocolError(this.name, problem, { cause: error });
    }
  }
}

/** The resourceVersion after the event. Throws ApiProtocolError when it is missing. */
export function versionOf({ type, object }: WatchEvent, request: string): string {
  const version = (object as { metadata?: { resourceVersion?: unknown } }).metadata?.resourceVersion;
  if (typeof version !== 'string')
    throw new ApiProtocolError(request, `an event ${type} without resourceVersion`);
  return version;
}

const TYPES: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'];

/** Throws ApiError for an event ERROR, ApiProtocolError for anything that is not an event. */
export function checkEvent({ type, object }: RawEvent, request: string): WatchEvent {
  if (typeof type !== 'string' || typeof object !== 'object' || object === null)
    throw new ApiProtocolError(request, `an event without type or object (${quote({ type, object })})`);
  if (type === 'ERROR') throw errorOf(object, request);
  if (!TYPES.includes(type)) throw new ApiProtocolError(request, `an event of the unknown type "${type}"`);
  return { type: type as WatchEvent['type'], object };
}

function errorOf(sent: object, request: string): ApiError {
  const { code, reason, message, retryAfterSeconds } = readStatus(sent);
  return new ApiError(request, code, reason, message, retryAfterOf(retryAfterSeconds));
}
