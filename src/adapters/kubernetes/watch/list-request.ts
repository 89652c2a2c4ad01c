import type { ApiClient, Query } from '../client/api-client.js';
import { ApiError, ApiProtocolError } from '../client/api-error.js';
import type { ListMetadata, UnreadableObject } from '../encoding/encoding.js';
import { encodingOf } from '../encoding/media-types.js';
import type { Resource } from './resources.js';

export interface ListRequest {
  readonly query: Query;
  /** Continues an earlier page. */
  readonly continued?: boolean;
  readonly signal: AbortSignal;
  /** Called for each object while the list arrives, before it is known whether the whole list is readable. */
  readonly onObject: (object: unknown) => void;
  /** An object cannot be decoded; the others can. */
  readonly onUnreadable: (object: UnreadableObject) => void;
  /** Something arrived. */
  readonly onActivity: () => void;
}

export interface PagedListRequest extends Pick<
  ListRequest,
  'signal' | 'onObject' | 'onUnreadable' | 'onActivity'
> {
  /** Objects in a page. */
  readonly pageSize: number;
  /** "0": anything the server has in its cache; "": the newest; else at least this resourceVersion. */
  readonly from: string;
  /** The list expired between pages: everything comes again, without pages. */
  readonly onRestart: () => void;
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
  { query, continued = false, signal, onObject, onUnreadable, onActivity }: ListRequest,
): Promise<ListMetadata> {
  const { contentType, body } = await client.open({
    path,
    query: { labelSelector, fieldSelector, ...query },
    accept: client.accept,
    large: true,
    continued,
    signal,
  });
  const decoder = encodingOf(contentType).listDecoder(kind, onUnreadable);
  try {
    await body.read(client.silence, (piece) => {
      onActivity();
      for (const object of decoder.push(piece)) onObject(object);
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
 * never end. Returns its resourceVersion. Throws as `requestList` does.
 */
export async function requestPages(
  client: ApiClient,
  resource: Resource,
  { pageSize, from, onRestart, onRefused, ...request }: PagedListRequest,
): Promise<string> {
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
        onRestart();
        limit = undefined;
        page = await firstPage();
      } else if (error.retryAfter !== undefined) await onRefused(error);
      else throw error;
    }
  }
  return page.resourceVersion;
}
