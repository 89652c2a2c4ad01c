import type { ApiObject } from './object-store.js';

/** What becomes of writes over HTTP before they are stored. */
export interface Admission {
  /** The object as it is to be stored: with what the server itself sets. Throws `Error` against what it does not take. */
  write(object: ApiObject, before?: ApiObject): ApiObject;
  /** What is stored instead of a deleted object, for somebody else to remove later; undefined removes it at once. */
  remove(object: ApiObject): ApiObject | undefined;
}

/** A path that is not that of an object or a collection. */
export interface OtherRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** A text is sent as it is, everything else as JSON. */
export interface OtherAnswer {
  readonly code: number;
  readonly body: unknown;
}

export const admitsAll: Admission = { write: (object) => object, remove: () => undefined };
