import type { ListDecoder, ListMetadata } from '../encoding/encoding.js';

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
