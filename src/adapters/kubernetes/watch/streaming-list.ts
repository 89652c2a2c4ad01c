import type { ApiClient } from '../client/api-client.js';
import { ApiProtocolError } from '../client/api-error.js';
import { INITIAL_EVENTS_END } from '../encoding/encoding.js';
import type { OpenWatch, WatchRequest } from './open-watch.js';
import type { Replacement } from './replacement.js';
import type { Resource } from './resources.js';
import { versionOf, type WatchEvent } from './watch-event.js';
import { openWatch, watchName } from './watch-request.js';

/** What came of a list. */
export interface Listed {
  readonly version: string;
  /** The watch that the list came with; its next event is the first after the list. */
  readonly watch?: OpenWatch;
}

/**
 * Lists a resource by a watch that begins with an event for each object, up to a bookmark that says so
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists). The server needs no memory for the whole list.
 * Throws what `openWatch` and its events throw, and ApiProtocolError when the watch ends before that bookmark, or another one
 * comes first, as from a server that ignores the request for initial events.
 */
export async function streamList(
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
