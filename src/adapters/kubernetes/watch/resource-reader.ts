import type { Logger } from '../../../application/ports/logger.js';
import type { ApiClient, Query } from '../client/api-client.js';
import { ApiError, ApiProtocolError, ApiSilenceError } from '../client/api-error.js';
import { INITIAL_EVENTS_END, type ListMetadata, type ListReceiver } from '../encoding/encoding.js';
import { encodingOf } from '../encoding/media-types.js';
import { Replacement, type KnownObjects } from './known-objects.js';
import {
  openWatch,
  watchName,
  versionOf,
  type OpenWatch,
  type WatchRequest,
  type WatchEvent,
} from './open-watch.js';
import type { Resource } from './resources.js';

/** The result of a list. */
export interface Listed {
  readonly version: string;
  /** The watch that the list came with; its next event is the first after the list. */
  readonly watch?: OpenWatch;
}

/** A whole list, by a watch or in pages. */
interface ListOptions extends Omit<WatchRequest, 'initialEvents'> {
  /** "0": anything the server has in its cache; "": the newest; else at least this resourceVersion. */
  readonly from: string;
  /** Objects in a page. */
  readonly pageSize: number;
  /** The server has no time for the next page; resolves when that page may be requested again. */
  readonly onRefused: (error: ApiError) => Promise<void>;
}

const BAD_REQUEST = 400;

/** The response of a server that does not stream lists: Invalid. */
const INVALID = 422;

/**
 * Lists and watches a resource with the features that the API server has: lists as streams, else in pages; with the field
 * selector, else without. A rejected feature is not requested again until `relearn`.
 */
export class ResourceReader {
  private streams: boolean;
  private selects = true;
  private reported = false;

  constructor(
    private readonly client: ApiClient,
    private readonly resource: Resource,
    private readonly known: KnownObjects,
    private readonly logger: Logger,
    /** Whether to try streams. */
    private readonly streamLists: boolean,
  ) {
    this.streams = streamLists;
  }

  /** Brings the known objects up to date. Throws what `streamList` and `requestPages` throw. */
  list(options: ListOptions): Promise<Listed> {
    return this.select((resource) => this.streamOrPages(resource, options));
  }

  /** Throws as `openWatch`. */
  watch(request: WatchRequest): Promise<OpenWatch> {
    return this.select((resource) => openWatch(this.client, resource, request));
  }

  /** The next request may reach another server, such as one that was upgraded. */
  relearn(): void {
    this.streams = this.streamLists;
    this.selects = true;
  }

  /** Sends a request with the field selector; without, if the server does not support the field. */
  private async select<T>(send: (resource: Resource) => Promise<T>): Promise<T> {
    const { fieldSelector, ...unselected } = this.resource;
    if (fieldSelector === undefined || !this.selects) return send(unselected);
    try {
      return await send(this.resource);
    } catch (error) {
      if (!this.isFieldUnknown(error)) throw error;
      this.selects = false;
      this.logger[this.reported ? 'debug' : 'info'](
        { error: error.message },
        'the API server does not know this field selector; selecting objects here',
      );
      this.reported = true;
      return send(unselected);
    }
  }

  private isFieldUnknown(error: unknown): error is ApiError {
    const { selectedField } = this.resource;
    if (selectedField === undefined || !(error instanceof ApiError)) return false;
    return error.code === BAD_REQUEST && error.detail.includes(selectedField);
  }

  private async streamOrPages(resource: Resource, options: ListOptions): Promise<Listed> {
    if (this.streams) {
      try {
        return await streamList(this.client, resource, options, new Replacement(this.known, this.logger));
      } catch (error) {
        this.judge(error);
      }
    }
    const replacement = new Replacement(this.known, this.logger);
    return { version: await requestPages(this.client, resource, options, replacement) };
  }

  /** Throws the error unless pages may do better: they can leave out a single object. */
  private judge(error: unknown): void {
    const refused = error instanceof ApiError && error.code === INVALID;
    if (!refused && !(error instanceof ApiProtocolError) && !(error instanceof ApiSilenceError)) throw error;
    if (refused) this.streams = false;
    this.logger.debug({ error: error.message }, 'the API server does not stream this list; listing in pages');
  }
}

/**
 * Lists a resource by a watch that begins with an event for each object, up to a bookmark that marks the end
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists). The server needs no memory for the whole list.
 * Throws what `openWatch` and its events throw, and ApiProtocolError when the watch ends before that bookmark, or another one
 * comes first, as from a server that ignores the request for initial events.
 */
async function streamList(
  client: ApiClient,
  resource: Resource,
  request: Omit<WatchRequest, 'initialEvents'>,
  replacement: Replacement,
): Promise<Listed> {
  const watch = await openWatch(client, resource, { ...request, initialEvents: true });
  const name = watchName(resource);
  let version = '';
  const complete = await watch.read((event) => {
    if (event.type === 'DELETED') replacement.remove(event.object);
    else if (event.type !== 'BOOKMARK') replacement.add(event.object);
    else if (endsInitialEvents(event)) {
      version = versionOf(event, name);
      return true;
    } else
      throw new ApiProtocolError(name, 'the server sent a bookmark before the end of the initial events');
    return false;
  });
  if (!complete) throw new ApiProtocolError(name, 'the server ended the watch before its initial events');
  replacement.end();
  return { version, watch };
}

function endsInitialEvents({ object }: WatchEvent): boolean {
  const { metadata } = object as { metadata?: { annotations?: Record<string, unknown> | null } };
  return metadata?.annotations?.[INITIAL_EVENTS_END] === 'true';
}

/**
 * Reads a whole list, page by page. A busy server may reject any page; earlier pages are kept, or a long list would
 * never end. A list that expires between pages comes again, without pages. Returns its resourceVersion. Throws as `requestList` does.
 */
async function requestPages(
  client: ApiClient,
  resource: Resource,
  { pageSize, from, signal, onActivity, onRefused }: ListOptions,
  replacement: Replacement,
): Promise<string> {
  const request = { signal, receiver: replacement, onActivity };
  const pinned = from !== '' && from !== '0';
  let limit: number | undefined = pageSize;
  const firstPage = (): Promise<ListMetadata> =>
    requestList(client, resource, {
      ...request,
      query: {
        limit,
        resourceVersion: from || undefined,
        resourceVersionMatch: pinned ? 'NotOlderThan' : undefined,
      },
    });
  let page = await firstPage();
  while (page.continue) {
    try {
      // A continue token carries its version; the server rejects any other along with it.
      const query = { limit, continue: page.continue };
      page = await requestList(client, resource, { ...request, query, continued: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.expired) {
        replacement.restart();
        limit = undefined;
        page = await firstPage();
      } else if (error.retryAfter !== undefined) await onRefused(error);
      else throw error;
    }
  }
  replacement.end();
  return page.resourceVersion;
}

const UNRECEIVED: ListReceiver = { add() {}, addUnreadable() {} };

interface ListRequest {
  readonly query: Query;
  /** Continues an earlier page. */
  readonly continued?: boolean;
  readonly signal: AbortSignal;
  /** Gets each object while the list arrives, before it is known whether the whole list is readable. */
  readonly receiver?: ListReceiver;
  /** Something arrived. */
  readonly onActivity?: () => void;
}

/**
 * Reads a list of a resource, or a page of one. Throws what ApiClient throws, and ApiProtocolError when the response is not
 * such a list.
 */
export async function requestList(
  client: ApiClient,
  { kind, path, labelSelector, fieldSelector }: Resource,
  { query, continued = false, signal, receiver = UNRECEIVED, onActivity }: ListRequest,
): Promise<ListMetadata> {
  const { contentType, body } = await client.open({
    path,
    query: { labelSelector, fieldSelector, ...query },
    accept: client.accept,
    large: true,
    continued,
    signal,
  });
  const decoder = encodingOf(contentType).listDecoder(kind, receiver);
  try {
    await body.read(client.silence, (piece) => {
      onActivity?.();
      decoder.push(piece);
    });
    return decoder.end();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiProtocolError(`GET ${path}`, `the response is not a valid ${kind}List (${error.message})`, {
      cause: error,
    });
  }
}
