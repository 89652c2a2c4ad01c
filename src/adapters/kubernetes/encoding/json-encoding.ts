import type {
  Encoding,
  ListDecoder,
  ListMetadata,
  ListReceiver,
  RawEvent,
  WatchDecoder,
} from './encoding.js';

/** Objects as JSON; a watch sends one document in each line. */
export const jsonEncoding: Encoding = {
  listDecoder: (kind, receiver) => new JsonListDecoder(`${kind}List`, receiver),
  watchDecoder: () => new JsonWatchDecoder(),
  status: (body) => (JSON.parse(body.toString('utf8')) as object | null) ?? {},
};

interface List {
  readonly kind?: unknown;
  readonly items?: unknown;
  readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown };
}

/** Decodes a list as a whole once it has arrived. */
export class JsonListDecoder implements ListDecoder {
  private readonly pieces: Buffer[] = [];

  /** @param kind of the list: `ServiceList` */
  constructor(
    private readonly kind: string,
    private readonly receiver: Pick<ListReceiver, 'add'>,
  ) {}

  push(piece: Buffer): void {
    this.pieces.push(piece);
  }

  end(): ListMetadata {
    const list = JSON.parse(Buffer.concat(this.pieces).toString('utf8')) as List | null;
    if (list?.kind !== this.kind) throw new SyntaxError(`its kind is ${JSON.stringify(list?.kind)}`);
    const { items, metadata: { resourceVersion, continue: next } = {} } = list;
    // Go programs may write null for an empty array.
    if (items !== null && !Array.isArray(items)) throw new SyntaxError('items is not an array');
    if (typeof resourceVersion !== 'string') throw new SyntaxError('metadata.resourceVersion is missing');
    for (const item of (items ?? []) as readonly unknown[]) this.receiver.add(item);
    return { resourceVersion, continue: typeof next === 'string' ? next : '' };
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
  /** The following text, which has not been searched. */
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
