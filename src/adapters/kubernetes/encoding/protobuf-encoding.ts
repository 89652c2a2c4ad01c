import type { ResourceKind } from '../../../application/ports/cluster-source.js';
import {
  LARGEST_OBJECT,
  type Encoding,
  type ListDecoder,
  type ListMetadata,
  type ListReceiver,
  type RawEvent,
  type WatchDecoder,
} from './encoding.js';
import {
  readMessage,
  bytes,
  message,
  nested,
  text,
  type Message,
  WireError,
  WireReader,
  LENGTH_DELIMITED,
  VARINT,
} from './protobuf-message.js';
import { statusMessage, anyObject, listMeta, objectMessages } from './protobuf-objects.js';
/** Objects as Kubernetes encodes them in protocol buffers; of each, only what `domain/decode` reads is decoded. */
export const protobufEncoding: Encoding = {
  listDecoder: (kind, receiver) => new ProtobufListDecoder(kind, receiver),
  watchDecoder: (kind) => new ProtobufWatchDecoder(kind),
  status: decodeStatus,
};

function decodeStatus(body: Buffer): object {
  const { kind, raw } = openEnvelope(body);
  if (kind !== 'Status') throw new WireError(`its kind is ${JSON.stringify(kind)}, not "Status"`);
  return readMessage(new WireReader(raw), statusMessage);
}

/** Field numbers of every list. */
const LIST_META = 1;

const ITEMS = 2;

/** A tag and a length, each at most ten bytes. */
const LONGEST_HEADER = 20;

interface Header {
  readonly number: number;
  /** Of tag and length. Bytes. */
  readonly size: number;
  /** Bytes of the value after that. */
  readonly length: number;
}

/**
 * Decodes a list while it arrives, one item at a time, so that a large response is never in memory as a whole. The fields of
 * the envelope and, inside its field `raw`, those of the list are taken from the stream one by one. Anything smaller is decoded
 * as a whole.
 */
class ProtobufListDecoder implements ListDecoder {
  private readonly queue = new ByteQueue();
  private begun = false;
  private kind = '';
  /** Bytes of the list that have not been taken; undefined before it. */
  private left: number | undefined;
  private metadata: Partial<ListMetadata> = {};

  constructor(
    private readonly itemKind: ResourceKind,
    private readonly receiver: ListReceiver,
  ) {}

  push(piece: Buffer): void {
    this.queue.push(piece);
    if (!this.begin()) return;
    for (let header = this.header(); header; header = this.header()) {
      if (this.left) {
        const field = this.takeFromList(header);
        if (!field) return;
        if (header.number === LIST_META) this.metadata = decode(field, listMeta);
        else if (header.number === ITEMS) this.decodeItem(field);
      } else if (header.number === RAW) {
        this.queue.take(header.size);
        this.enterList(header.length);
      } else {
        const field = this.take(header);
        if (!field) return;
        if (header.number === TYPE_META) this.kind = (decode(field, typeMeta).kind as string) ?? '';
      }
    }
  }

  end(): ListMetadata {
    if (this.queue.length > 0 || this.left !== 0) throw new WireError('it is cut off');
    const { resourceVersion, continue: next = '' } = this.metadata;
    if (resourceVersion === undefined) throw new WireError('metadata.resourceVersion is missing');
    return { resourceVersion, continue: next };
  }

  /** Whether the stream has begun as it must. */
  private begin(): boolean {
    if (!this.begun) {
      const start = this.queue.peek(MAGIC.length).subarray(0, MAGIC.length);
      if (!start.equals(MAGIC.subarray(0, start.length)))
        throw new WireError('it does not begin with "k8s\\0"');
      this.begun = this.queue.take(MAGIC.length) !== undefined;
    }
    return this.begun;
  }

  private enterList(length: number): void {
    const expected = `${this.itemKind}List`;
    if (this.kind !== expected) throw new WireError(`its kind is ${JSON.stringify(this.kind)}`);
    if (this.left !== undefined) throw new WireError('it holds two lists');
    this.left = length;
  }

  /** Tag and length of the next field, which stay in the queue; undefined while they are incomplete. */
  private header(): Header | undefined {
    const start = this.queue.peek(LONGEST_HEADER).subarray(0, LONGEST_HEADER);
    if (countVarints(start) < 2) {
      if (start.length === LONGEST_HEADER) throw new WireError('a number of more than 10 bytes');
      return undefined;
    }
    const reader = new WireReader(start);
    const tag = reader.tag();
    const wireType = tag & 7;
    if (wireType !== LENGTH_DELIMITED && wireType !== VARINT) throw new WireError(`wire type ${wireType}`);
    // The messages around the items have no number as a field; a later one is skipped.
    if (wireType === VARINT) {
      reader.skip(VARINT);
      return { number: 0, size: reader.position, length: 0 };
    }
    const length = reader.uint32();
    return { number: tag >>> 3, size: reader.position, length };
  }

  private takeFromList(header: Header): Buffer | undefined {
    if (header.size + header.length > this.left!) throw new WireError('a field ends behind the list');
    const field = this.take(header);
    if (field) this.left! -= header.size + header.length;
    return field;
  }

  private take({ size, length }: Header): Buffer | undefined {
    if (length > LARGEST_OBJECT)
      throw new WireError(`a field of ${length} bytes; the limit is ${LARGEST_OBJECT}`);
    return this.queue.take(size + length)?.subarray(size);
  }

  private decodeItem(encoded: Buffer): void {
    let item: object;
    try {
      item = decode(encoded, objectMessages[this.itemKind]);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return this.receiver.addUnreadable({ partial: decodeMetadata(encoded), problem: error.message });
    }
    this.receiver.add(item);
  }
}

function decode(encoded: Buffer, fields: Message): Record<string, unknown> {
  return readMessage(new WireReader(encoded), fields);
}

function decodeMetadata(encoded: Buffer): unknown {
  try {
    return decode(encoded, anyObject);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** How many whole numbers the bytes begin with, at most two. */
function countVarints(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count < 2; at++) if (bytes[at]! < 0x80) count++;
  return count;
}

/** Each event is a frame: its length, big-endian, and a `metav1.WatchEvent`. Bytes. */
const LENGTH_SIZE = 4;

const rawExtension = message({ 1: bytes('raw') });

const watchEvent = message({ 1: text('type'), 2: nested('object', rawExtension) });

/** Decodes the events of a watch on objects of one kind. */
class ProtobufWatchDecoder implements WatchDecoder {
  private readonly queue = new ByteQueue();

  constructor(private readonly kind: ResourceKind) {}

  push(piece: Buffer): void {
    this.queue.push(piece);
  }

  next(): RawEvent | undefined {
    const frame = this.takeFrame();
    return frame && this.decode(frame);
  }

  private takeFrame(): Buffer | undefined {
    if (this.queue.length < LENGTH_SIZE) return undefined;
    const length = this.queue.peek(LENGTH_SIZE).readUInt32BE();
    if (length > LARGEST_OBJECT)
      throw new WireError(`it has ${length} bytes; the limit is ${LARGEST_OBJECT}`);
    return this.queue.take(LENGTH_SIZE + length)?.subarray(LENGTH_SIZE);
  }

  private decode(frame: Buffer): RawEvent {
    const { type, object } = readMessage(new WireReader(frame), watchEvent) as {
      type?: string;
      object?: { raw?: Buffer };
    };
    if (!object?.raw) return { type };
    const { kind, raw } = openEnvelope(object.raw);
    const fields = kind === this.kind ? objectMessages[this.kind] : statusMessage;
    if (kind !== this.kind && kind !== 'Status')
      throw new WireError(`its object is of the kind ${JSON.stringify(kind)}, not "${this.kind}"`);
    return { type, object: readMessage(new WireReader(raw), fields) };
  }
}

/*
 * A response, and the object of each event, is `k8s\0` and a `runtime.Unknown`
 * (https://github.com/kubernetes/apimachinery/blob/master/pkg/runtime/generated.proto).
 */

/** The first bytes of every object. */
const MAGIC = Buffer.from('k8s\0');

/** Field numbers of `runtime.Unknown`. */
const TYPE_META = 1;

const RAW = 2;

/** Kind of the object in an envelope. */
const typeMeta: Message = message({ 2: text('kind') });

const unknown = message({ [TYPE_META]: nested('typeMeta', typeMeta), [RAW]: bytes('raw') });

/** An object whose fields are still encoded. */
interface EncodedObject {
  /** "" if it is missing. */
  readonly kind: string;
  readonly raw: Buffer;
}

/** Opens the envelope of an object. Throws WireError. */
function openEnvelope(encoded: Buffer): EncodedObject {
  if (!MAGIC.every((byte, index) => encoded[index] === byte))
    throw new WireError('it does not begin with "k8s\\0"');
  const envelope = readMessage(new WireReader(encoded, MAGIC.length), unknown);
  const { typeMeta: { kind = '' } = {}, raw } = envelope as { typeMeta?: { kind?: string }; raw?: Buffer };
  if (!raw) throw new WireError('the envelope is empty');
  return { kind, raw };
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Bytes that have arrived and have not been read. Gives parts of any size, however they arrived. */
class ByteQueue {
  /** How many bytes wait. */
  length = 0;
  private head = EMPTY;
  private tail: Buffer[] = [];

  push(chunk: Buffer): void {
    if (this.length === 0) this.head = chunk;
    else this.tail.push(chunk);
    this.length += chunk.length;
  }

  /** The first bytes, at least `size` of them unless fewer wait; they stay. */
  peek(size: number): Buffer {
    this.gather(Math.min(size, this.length));
    return this.head;
  }

  /** Takes the first `size` bytes; undefined while there are fewer. */
  take(size: number): Buffer | undefined {
    if (size > this.length) return undefined;
    this.gather(size);
    const { head } = this;
    this.length -= size;
    // Most pieces are one event.
    if (head.length === size) {
      this.head = EMPTY;
      return head;
    }
    this.head = head.subarray(size);
    return head.subarray(0, size);
  }

  private gather(size: number): void {
    if (this.head.length >= size) return;
    this.head = Buffer.concat([this.head, ...this.tail]);
    this.tail = [];
  }
}
