import type { ApiClient, Query } from './api-client.js';
import { ApiProtocolError } from './api-error.js';
import { ListDecoder, type ListMetadata } from './list-decoder.js';
import type { Resource } from './resources.js';

export interface ListRequest {
  readonly query: Query;
  /** It goes on with an earlier page. */
  readonly continued?: boolean;
  readonly signal: AbortSignal;
  /** Called for each object while the list arrives, before it is known whether the whole list can be read. */
  readonly onObject: (object: unknown) => void;
  /** Something arrived. */
  readonly onActivity: () => void;
}

/**
 * Reads a list of a resource, or a page of one. Throws what ApiClient throws, and ApiProtocolError when the answer is not
 * such a list.
 */
export async function requestList(
  client: ApiClient,
  { kind, path, labelSelector, fieldSelector }: Resource,
  { query, continued = false, signal, onObject, onActivity }: ListRequest,
): Promise<ListMetadata> {
  const response = await client.open({
    path,
    query: { labelSelector, fieldSelector, ...query },
    continued,
    signal,
  });
  const decoder = new ListDecoder(`${kind}List`);
  try {
    for await (const chunk of response.chunks(client.silence)) {
      onActivity();
      for (const object of decoder.push(chunk)) onObject(object);
    }
    return decoder.end();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiProtocolError(`GET ${path}`, `the answer is no valid ${kind}List (${error.message})`, {
      cause: error,
    });
  }
}
