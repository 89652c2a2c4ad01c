import { ApiError, ApiProtocolError } from '../client/api-error.js';

/** An event of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: object;
}

const TYPES: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'];

/** Parses one line of a watch. Throws ApiError for an event ERROR, ApiProtocolError for anything that is not an event. */
export function parseWatchEvent(line: string, request: string): WatchEvent {
  let event: { type?: unknown; object?: unknown } | null;
  try {
    event = JSON.parse(line) as typeof event;
  } catch (error) {
    throw new ApiProtocolError(request, `an event is not valid JSON (${JSON.stringify(line.slice(0, 80))})`, {
      cause: error,
    });
  }
  const { type, object } = event ?? {};
  if (typeof type !== 'string' || typeof object !== 'object' || object === null) {
    throw new ApiProtocolError(
      request,
      `an event without type or object (${JSON.stringify(line.slice(0, 80))})`,
    );
  }
  if (type === 'ERROR') throw errorOf(object, request);
  if (!TYPES.includes(type)) throw new ApiProtocolError(request, `an event of the unknown type "${type}"`);
  return { type: type as WatchEvent['type'], object };
}

function errorOf(status: object, request: string): ApiError {
  const { code, reason, message, details } = status as Record<string, unknown>;
  const seconds = (details as { retryAfterSeconds?: unknown } | undefined)?.retryAfterSeconds;
  return new ApiError(
    request,
    typeof code === 'number' ? code : 500,
    typeof reason === 'string' ? reason : '',
    typeof message === 'string' ? message : '',
    typeof seconds === 'number' ? seconds * 1000 : undefined,
  );
}
