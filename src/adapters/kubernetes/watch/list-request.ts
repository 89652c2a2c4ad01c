import type { ApiClient, Query } from '../client/api-client.js';
import { ApiError, ApiProtocolError } from '../client/api-error.js';
import type { ListMetadata } from '../encoding/encoding.js';
import { encodingOf } from '../encoding/media-types.js';
import type { WatchRequest } from './open-watch.js';
import type { Replacement } from './replacement.js';
import type { Resource } from './resources.js';

interface ListRequest {
  readonly query: Query;
  /** Continues an earlier page. */
  readonly continued?: boolean;
  readonly signal: AbortSignal;
  /** Gets each object while the list arrives, before it is known whether the whole list is readable. */
  readonly replacement?: Replacement;
  /** Something arrived. */
  readonly onActivity?: () => void;
}

/** A whole list, by a watch or in pages. */
export interface ListOptions extends Omit<WatchRequest, 'initialEvents'> {
  /** "0": anything the server has in its cache; "": the newest; else at least this resourceVersion. */
  readonly from: string;
  /** Objects in a page. */
  readonly pageSize: number;
  /** The server has no time for the next page; resolves when it may be asked for that page again. */
  readonly onRefused: (error: ApiError) => Promise<void>;
}

/**
 * Reads a list of a resource, or a page of one. Throws what ApiClient throws, and ApiProtocolError when the response is not
 * such a list.
 */
export async function requestList(
  client: ApiClient,
  { kind, path, labelSelector, fieldSelector }: Resource,
  { query, continued = false, signal, replacement, onActivity }: ListRequest,
): Promise<ListMetadata> {
  const { contentType, body } = await client.open({
    path,
    query: { labelSelector, fieldSelector, ...query },
    accept: client.accept,
    large: true,
    continued,
    signal,
  });
  const decoder = encodingOf(contentType).listDecoder(kind, (object) => replacement?.addUnreadable(object));
  try {
    await body.read(client.silence, (piece) => {
      onActivity?.();
      for (const object of decoder.push(piece)) replacement?.add(object);
    });
    return decoder.end();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiProtocolError(`GET ${path}`, `the response is not a valid ${kind}List (${error.message})`, {
      cause: error,
    });
  }
}

/**
 * Reads a whole list, page by page. A busy server may refuse any page; what came before is kept, otherwise a long list would
 * never end. A list that expires between pages comes again, without pages. Returns its resourceVersion. Throws as `requestList` does.
 */
export async function requestPages(
  client: ApiClient,
  resource: Resource,
  { pageSize, from, signal, onActivity, onRefused }: ListOptions,
  replacement: Replacement,
): Promise<string> {
  const request = { signal, replacement, onActivity };
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
