import type { ApiClient } from '../client/api-client.js';
import { encodingOf } from '../encoding/media-types.js';
import { OpenWatch, type WatchRequest } from './open-watch.js';
import type { Resource } from './resources.js';

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
