import type { ResourceKind } from '../../../application/ports/cluster-source.js';

/** The part of a list outside its items. */
export interface ListMetadata {
  readonly resourceVersion: string;
  /** Token of the next page, "" on the last. */
  readonly continue: string;
}

/** An object of a list that cannot be decoded, while the others can. */
export interface UnreadableObject {
  /** The readable part: an object with its metadata, or undefined. */
  readonly partial: unknown;
  readonly problem: string;
}

/** Gets the items of a list. */
export interface ListReceiver {
  add(object: unknown): void;
  addUnreadable(object: UnreadableObject): void;
}

/**
 * Decodes a list that arrives in pieces, and passes its items on. Throws SyntaxError on malformed bytes, and before the items of
 * another kind of list.
 */
export interface ListDecoder {
  push(piece: Buffer): void;
  /** The list's metadata, after everything was pushed. Throws SyntaxError when the list is truncated, too. */
  end(): ListMetadata;
}

/** Annotation of the bookmark that ends the initial events of a watch; its value is "true". */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** An event as it was sent: type and object are not checked yet. */
export interface RawEvent {
  readonly type?: unknown;
  readonly object?: unknown;
}

/** Decodes the events of a watch while they arrive. */
export interface WatchDecoder {
  push(piece: Buffer): void;
  /**
   * The next event; undefined until more was pushed. Throws SyntaxError on malformed bytes; nothing can be decoded afterwards.
   */
  next(): RawEvent | undefined;
}

/** The fields read of a `metav1.Status`. */
export interface ApiStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds: unknown;
}

/** Reads a Status as it was sent. What is missing or of another type is empty; the code is 500 then. */
export function readStatus(sent: object): ApiStatus {
  const { code, reason, message, details } = sent as Readonly<Record<string, unknown>>;
  return {
    code: typeof code === 'number' ? code : 500,
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
    retryAfterSeconds: (details as { retryAfterSeconds?: unknown } | undefined)?.retryAfterSeconds,
  };
}

/**
 * How the API server encodes objects. Every encoding gives the same objects, as decoded JSON, with at least the fields that
 * `domain/decode` reads.
 */
export interface Encoding {
  listDecoder(kind: ResourceKind, receiver: ListReceiver): ListDecoder;
  watchDecoder(kind: ResourceKind): WatchDecoder;
  /** A Status as it was sent. Throws SyntaxError. */
  status(body: Buffer): object;
}

/** An API object is at most 1.5 MiB in etcd unless configured otherwise; anything much longer is not one. Bytes. */
export const LARGEST_OBJECT = 16 * 1024 * 1024;
