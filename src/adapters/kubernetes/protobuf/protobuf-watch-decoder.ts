import type { ResourceKind } from '../../../application/ports/cluster-source.js';
import { LARGEST_OBJECT, type RawEvent, type WatchDecoder } from '../encoding/encoding.js';
import { ByteQueue } from './byte-queue.js';
import { openEnvelope } from './envelope.js';
import { bytes, message, nested, readMessage, text } from './message.js';
import { objectMessages, statusMessage } from './objects.js';
import { WireError, WireReader } from './wire-reader.js';

/** Each event is a frame: its length, big-endian, and a `metav1.WatchEvent`. Bytes. */
const LENGTH_SIZE = 4;

const rawExtension = message({ 1: bytes('raw') });
const watchEvent = message({ 1: text('type'), 2: nested('object', rawExtension) });

/** Decodes the events of a watch on objects of one kind. */
export class ProtobufWatchDecoder implements WatchDecoder {
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
