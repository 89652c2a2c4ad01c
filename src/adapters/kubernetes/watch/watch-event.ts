import { quote } from '../../../domain/decode/problem.js';
import { ApiError, ApiProtocolError } from '../client/api-error.js';
import { retryAfterOf } from '../client/retry-after.js';
import { readStatus, type RawEvent } from '../encoding/encoding.js';

/** An event of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: object;
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

/** The resourceVersion after the event. Throws ApiProtocolError when it is missing. */
export function versionOf({ type, object }: WatchEvent, request: string): string {
  const version = (object as { metadata?: { resourceVersion?: unknown } }).metadata?.resourceVersion;
  if (typeof version !== 'string')
    throw new ApiProtocolError(request, `an event ${type} without resourceVersion`);
  return version;
}

function errorOf(sent: object, request: string): ApiError {
  const { code, reason, message, retryAfterSeconds } = readStatus(sent);
  return new ApiError(request, code, reason, message, retryAfterOf(retryAfterSeconds));
}
