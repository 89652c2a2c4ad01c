import type { ServerResponse } from 'node:http';

/** Aborted when the client leaves, and when it has its answer. */
export function clientLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  if (response.destroyed) left.abort();
  response.once('close', () => left.abort());
  return left.signal;
}
