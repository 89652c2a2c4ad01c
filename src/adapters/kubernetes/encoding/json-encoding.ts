import type { Encoding, ListDecoder, ListMetadata, RawEvent, WatchDecoder } from './encoding.js';

/** Objects as JSON; a watch sends one document in each line. */
export const jsonEncoding: Encoding = {
  listDecoder: (kind) => new JsonListDecoder(`${kind}List`),
  watchDecoder: () => new JsonWatchDecoder(),
  status: (body) => (JSON.parse(body.toString('utf8')) as object | null) ?? {},
};

interface ListEnvelope {
  readonly kind?: unknown;
  readonly items?: unknown;
  readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Decodes a list while it arrives, one item at a time. Servers may ignore `limit` (they do for lists from their cache) and
 * send a hundred megabytes. Such a response is never in memory as a whole and never blocks the process for longer than one
 * chunk.
 *
 * State: the nesting depth outside strings, and whether an item is open. An item is an object at depth 2 inside the
 * array that is the value of "items" at depth 1. All other bytes are the envelope, which is parsed at the end.
 */
export class JsonListDecoder implements ListDecoder {
  private readonly envelope: Buffer[] = [];
  private item: Buffer[] = [];
  private depth = 0;
  private inString = false;
  private escaped = false;
  private inItems = false;
  private inItem = false;
  private lastString: number[] = [];

  /** @param kind of the list: `ServiceList` */
  constructor(private readonly kind: string) {}

  /** The items that this chunk completes. Throws SyntaxError on an item that is not JSON, and before the items of another kind of list. */
  *push(chunk: Buffer): Generator<unknown> {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.inString) {
        this.readString(byte);
      } else if (byte === QUOTE) {
        this.inString = true;
        this.lastString = [];
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.inItems && this.depth === 2) {
          start = at; // skips the comma before the item
          this.inItem = true;
        }
        this.depth++;
        if (byte === OPEN_ARRAY && this.depth === 2 && this.isItemsKey()) {
          this.inItems = true;
          this.envelope.push(chunk.subarray(start, at + 1));
          start = at + 1;
          this.checkKindAhead();
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.depth--;
        if (this.inItem && this.depth === 2) {
          this.item.push(chunk.subarray(start, at + 1));
          start = at + 1;
          this.inItem = false;
          const text = Buffer.concat(this.item).toString('utf8');
          this.item = [];
          yield JSON.parse(text);
        } else if (this.inItems && this.depth === 1) {
          this.inItems = false;
          start = at; // skips what was between the items
        }
      }
    }
    if (this.inItem) this.item.push(chunk.subarray(start));
    else if (!this.inItems) this.envelope.push(chunk.subarray(start));
  }

  /** The list's metadata, after everything was pushed. Throws SyntaxError when the list is truncated, not JSON, or of another kind. */
  end(): ListMetadata {
    const list = this.readEnvelope('');
    this.checkKind(list);
    // Go programs may write null for an empty array.
    if (list?.items !== null && !Array.isArray(list?.items)) throw new SyntaxError('items is not an array');
    const { resourceVersion, continue: next } = list.metadata ?? {};
    if (typeof resourceVersion !== 'string') throw new SyntaxError('metadata.resourceVersion is missing');
    return { resourceVersion, continue: typeof next === 'string' ? next : '' };
  }

  /** The kind usually comes first. Then no item of another kind of list is delivered. */
  private checkKindAhead(): void {
    const list = this.readEnvelope(']}');
    if (list?.kind !== undefined) this.checkKind(list);
  }

  private checkKind(list: ListEnvelope | null): void {
    if (list?.kind !== this.kind) throw new SyntaxError(`its kind is ${JSON.stringify(list?.kind)}`);
  }

  private readEnvelope(rest: string): ListEnvelope | null {
    return JSON.parse(Buffer.concat(this.envelope).toString('utf8') + rest) as ListEnvelope | null;
  }

  private readString(byte: number): void {
    if (this.escaped) this.escaped = false;
    else if (byte === BACKSLASH) this.escaped = true;
    else if (byte === QUOTE) this.inString = false;
    else if (this.depth === 1 && this.lastString.length < 8) this.lastString.push(byte);
  }

  private isItemsKey(): boolean {
    return String.fromCharCode(...this.lastString) === 'items';
  }
}

const NEWLINE = 0x0a;

/** An API object is at most 1.5 MiB in etcd; a much longer line is not one. Bytes. */
const MAXIMUM_LINE = 32 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/** Decodes the events of a watch: one JSON document in each line. */
export class JsonWatchDecoder implements WatchDecoder {
  /** Parts of an unfinished line. */
  private parts: Buffer[] = [];
  private length = 0;
  /** What follows them and was not looked through. */
  private rest: Buffer = EMPTY;

  /** To be called when `next` has given everything before. */
  push(piece: Buffer): void {
    this.rest = piece;
  }

  /** The event in the next line; empty lines are skipped. Throws SyntaxError on one without end, too. */
  next(): RawEvent | undefined {
    for (let end = this.rest.indexOf(NEWLINE); end >= 0; end = this.rest.indexOf(NEWLINE)) {
      const line = this.take(this.rest.subarray(0, end));
      this.rest = this.rest.subarray(end + 1);
      if (line.trim()) return parse(line);
    }
    this.keep();
    return undefined;
  }

  private take(last: Buffer): string {
    if (this.parts.length === 0) return last.toString('utf8');
    const line = Buffer.concat([...this.parts, last]).toString('utf8');
    this.parts = [];
    this.length = 0;
    return line;
  }

  private keep(): void {
    if (this.rest.length === 0) return;
    this.length += this.rest.length;
    if (this.length > MAXIMUM_LINE) throw new SyntaxError(`a line is longer than ${MAXIMUM_LINE} bytes`);
    this.parts.push(this.rest);
    this.rest = EMPTY;
  }
}

function parse(line: string): RawEvent {
  try {
    return (JSON.parse(line) as RawEvent | null) ?? {};
  } catch (error) {
    throw new SyntaxError(`it is not valid JSON (${JSON.stringify(line.slice(0, 80))})`, { cause: error });
  }
}
